// Runs a model on another machine, or for another architecture in an emulator (see RemoteOptions).
//
//   ExecutorOptions options;
//   options.remote = RemoteOptions{.via = "ssh board"};
//   Remote model("model.onnx", options);     // times and memory are measured on the board
//
// Only the given command is started on this machine. If the other machine is unreachable, hangs or sends
// invalid answers, calls throw Error{kIo} while files are copied, Error{kBadInput} afterwards.
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

// Splits a command line at blanks outside single and double quotes; no other character is special. Throws
// Error{kUsage} if a quote is not closed.
std::vector<std::string> words_of(const std::string& line);

// Quotes a word for a shell. Throws Error{kBadInput} if it has a zero byte.
std::string shell_word(std::string_view word);

// A machine that is reached with a command prefix: "ssh board", "adb shell", "sh -c". A shell on that machine
// runs the argument after the prefix, with the given bytes on standard input.
class Device {
 public:
  explicit Device(std::string via) : via_(std::move(via)), prefix_(words_of(via_)) {}

  const std::string& name() const { return via_; }
  // The command that runs `script` on the device.
  std::vector<std::string> command(const std::string& script) const;
  // Runs a script and returns its output. Throws Error{kIo} if it fails or takes longer than `seconds`.
  std::string run(const std::string& script, std::string_view input, double seconds) const;
  // Writes a file on the device atomically; creates its folder.
  void push(std::string_view bytes, const std::string& path, double seconds) const;
  // Removes a file or folder on the device. Waits a few seconds at most, and ignores errors.
  void try_to_remove(const std::string& path) const noexcept;

 private:
  std::string via_;
  std::vector<std::string> prefix_;
};

}  // namespace ounce::runtime
