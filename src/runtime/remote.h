// A model on another machine, or in another architecture under an emulator; see ounce::Remote for how.
//
//   ExecutorOptions options;
//   options.remote = RemoteOptions{.via = "ssh board"};
//   Remote model("model.onnx", options);     // times and memory are those of the board
//
// Only the given command is started here. A side that is dead, hangs or sends invalid answers is one Error:
// kIo while files are copied there, kBadInput afterwards.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hosted.h"

namespace ounce::runtime {

class Remote : public Hosted {
 public:
  Remote(const std::filesystem::path& model, const ExecutorOptions& options);
};

// The words of a command line: split at blanks outside of '…' and "…"; nothing else is special. Throws
// Error{kUsage} when a quote is not closed.
std::vector<std::string> words_of(const std::string& line);

// Quotes a word for a shell. Throws Error{kBadInput} for one with a zero byte.
std::string shell_word(std::string_view word);

// A machine behind a command: "ssh board", "adb shell", "sh -c". A shell there runs the argument behind this
// prefix, with the given bytes on its standard input.
class Device {
 public:
  explicit Device(std::string via) : via_(std::move(via)), prefix_(words_of(via_)) {}

  const std::string& name() const { return via_; }
  // The command that runs `script` there.
  std::vector<std::string> command(const std::string& script) const;
  // Returns the output of the script. Throws Error{kIo} when it fails or takes longer.
  std::string run(const std::string& script, std::string_view input, double seconds) const;
  // Copies a file there atomically, and makes its folder.
  void push(std::string_view bytes, const std::string& path, double seconds) const;
  // Waits a few seconds at most, and ignores failures.
  void try_to_remove(const std::string& path) const noexcept;

 private:
  std::string via_;
  std::vector<std::string> prefix_;
};

}  // namespace ounce::runtime
