// A file of a call that could not be read to its end. A handler of signals records it (io/file_guard.h), and
// the call throws it (cancel.h).
#pragma once

#include <array>
#include <atomic>
#include <string>

namespace ounce {

class FileFault {
 public:
  // Of the first file; the others are dropped. Safe in signal handlers.
  void record(const char* path) noexcept;
  bool is_set() const noexcept { return state_.load(std::memory_order_acquire) != State::kNone; }
  std::string path() const;  // cut off where it is very long; empty while it is being recorded

 private:
  enum class State { kNone, kRecording, kRecorded };
  std::atomic<State> state_{State::kNone};
  std::array<char, 1024> path_{};
};

}  // namespace ounce
