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
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hosted.h"

namespace ounce::runtime {

class Remote : public Hosted {
 public:
  Remote(const std::filesystem::path& model, const ExecutorOptions& options);
};

// A machine behind a command: "ssh board", "adb shell", "sh -c". Whatever follows that prefix as one argument
// is run by a shell there, with our bytes on its standard input.

// The words of a command line: split at blanks outside of '…' and "…"; nothing else is special. Throws
// Error{kUsage} when a quote is not closed.
std::vector<std::string> words_of(const std::string& line);

// A word that a shell takes as it is, whatever is in it. Throws Error{kBadInput} for one with a zero byte.
std::string shell_word(std::string_view word);

class Device {
 public:
  explicit Device(std::string via) : via_(std::move(via)), prefix_(words_of(via_)) {}

  const std::string& name() const { return via_; }
  // What to start here, to have `script` run there.
  std::vector<std::string> command(const std::string& script) const;
  // What the script prints. Throws Error{kIo} when it fails or takes longer.
  std::string run(const std::string& script, std::string_view input, double seconds) const;
  // Takes a file there; whoever reads it meanwhile sees all of it or nothing. Folders are made.
  void push(std::string_view bytes, const std::string& path, double seconds) const;
  // Without its end being waited for longer than a few seconds, and without a word when it fails.
  void try_to_remove(const std::string& path) const noexcept;

 private:
  std::string via_;
  std::vector<std::string> prefix_;
};

}  // namespace ounce::runtime
