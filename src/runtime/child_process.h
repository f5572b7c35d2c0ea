// A child process whose standard input and output are one socket.
//
//   ChildProcess process({"ssh", "board", "cat > file"}, ChildProcess::Errors::kKept);
//   write_all(process.socket(), bytes, deadline);
//   process.end_input();
//   if (!process.end(10).is_good()) report(process.said());
//
// The destructor kills the child and all processes that it started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/descriptor.h"

namespace ounce::runtime {

class ChildProcess {
 public:
  enum class Errors { kDropped, kKept };  // handling of the child's standard error

  // Starts a program without a shell. The first word is a path, or is searched in PATH. Throws Error{kIo}.
  ChildProcess(std::vector<std::string> command, Errors errors);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int socket() const { return socket_.get(); }
  void end_input();  // sends end of file to the child

  struct End {
    int code = 0, signal = 0;
    bool was_killed = false;  // by end(), because the child was still running
    bool is_good() const { return code == 0 && signal == 0; }
    // True if a signal ended the child that programs do not cause themselves: the system or a user killed it.
    // When memory runs out, the kernel sends SIGKILL.
    bool was_killed_from_outside() const;
    // "crashed with SIGSEGV", "was killed (SIGKILL)", "ended with 7", "did not answer"
    std::string how() const;
  };
  // Waits up to `patience` seconds for the child to exit, then kills it.
  End end(double patience);

  // The last part of the child's standard error, on one line.
  std::string said() const;

 private:
  pid_t process_ = -1;
  io::Descriptor socket_, errors_;
};

// Transfer bytes over a socket or a pipe within a time limit. These functions throw Error{kCancelled} if the
// call was canceled.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline deadline_in(double seconds);  // 0: no limit

enum class Outcome { kDone, kClosed, kLate };

Outcome read_exactly(int descriptor, char* to, std::size_t size, Deadline deadline);
// Reads until the other side closes; drops bytes beyond `most`.
Outcome read_to_end(int descriptor, std::string& bytes, std::size_t most, Deadline deadline);
Outcome write_all(int descriptor, std::string_view bytes, Deadline deadline);

// A pool of runner processes that wait for the next model. Starting a process and opening the library takes
// longer than running many models, so callers that load many models set ExecutorOptions::runners.
//
//   options.runners = std::make_shared<Runners>();
//   load("a.onnx", options)->run(a);   // starts a process
//   load("b.onnx", options)->run(b);   // uses the same process
class Runners {
 public:
  // Takes a waiting runner for this purpose (the same command and library); null if there is none.
  std::unique_ptr<ChildProcess> take(const std::string& purpose);
  // Returns a runner to the pool; it must have unloaded its model.
  void give_back(const std::string& purpose, std::unique_ptr<ChildProcess> runner);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::unique_ptr<ChildProcess>>> waiting_;
};

}  // namespace ounce::runtime
