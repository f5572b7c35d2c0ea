// A program that we start and talk to on its standard input and output, which are one socket.
//
//   ChildProcess process({"ssh", "board", "cat > file"}, ChildProcess::Errors::kKept);
//   write_all(process.socket(), bytes, deadline);
//   process.end_input();
//   if (!process.end(10).is_good()) … process.said() …
//
// It is killed, with all that it started, when the object goes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.h"

namespace ounce::runtime {

class ChildProcess {
 public:
  enum class Errors { kDropped, kKept };  // what it writes to standard error

  // The first word is a path, or is searched in PATH; no shell has a part in it. Throws Error{kIo}.
  ChildProcess(std::vector<std::string> command, Errors errors);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int socket() const { return socket_.get(); }
  void end_input();  // it reads an end of file from here on

  struct End {
    int code = 0, signal = 0;
    bool was_killed = false;  // by us, as it went on
    bool is_good() const { return code == 0 && signal == 0; }
    // By a signal that no program raises by a fault of its own: the system or a person ended it. When memory
    // runs out, the kernel sends SIGKILL.
    bool was_killed_from_outside() const;
    std::string how()
        const;  // "crashed with SIGSEGV", "was killed (SIGKILL)", "ended with 7", "did not answer"
  };
  // Waits for its end for so many seconds, and kills it then.
  End end(double patience);

  // The last of what it wrote to standard error, on one line.
  std::string said() const;

 private:
  pid_t process_ = -1;
  io::Descriptor socket_, errors_;
};

// Bytes over a socket or a pipe, within a time limit. All of these throw Error{kCancelled} when this process
// was asked to stop.

using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline deadline_in(double seconds);  // 0: none

enum class Outcome { kDone, kClosed, kLate };

Outcome read_exactly(int descriptor, char* to, std::size_t size, Deadline deadline);
// Until the other side closes; what comes beyond `most` bytes is dropped.
Outcome read_to_end(int descriptor, std::string& bytes, std::size_t most, Deadline deadline);
Outcome write_all(int descriptor, std::string_view bytes, Deadline deadline);

}  // namespace ounce::runtime
