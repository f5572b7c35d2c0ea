// A model on another machine, or in another architecture under an emulator; see ounce::Remote for how.
//
//   ExecutorOptions options;
//   options.remote = RemoteOptions{.via = "ssh board"};
//   Remote model("model.onnx", options);     // times and memory are those of the board
//
// Only the given command is started here. A side that is dead, hangs or answers nonsense is one Error: kIo
// while files are brought there, kBadInput afterwards.
#pragma once

#include <filesystem>

#include "runtime/hosted.h"

namespace ounce::runtime {

class Remote : public Hosted {
 public:
  Remote(const std::filesystem::path& model, const ExecutorOptions& options);
};

}  // namespace ounce::runtime
