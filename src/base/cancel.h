// Cancellation. Every thread works in a cancellation scope; scopes may be nested. Long-running work checks
// between tiles whether one of its scopes was stopped, and unwinds with Error{kCancelled}, so that all
// destructors run and no unfinished file remains.
//
//   const CancellationScope scope(options.progress);   // in each public function
//   … throw_if_cancelled();                            // in long work
//   … count_step();                                    // in short, very frequent work
//
// A file that is read in a scope may be truncated meanwhile (FileGuard in io/mapped_file.h). The bytes read
// after that are not those of the file, so the scope ends with Error{kIo}: at the next check, before an
// output gets its name, or, at the latest, when the CancellationScope is destroyed.
#pragma once

#include <ounce/runtime.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ounce {

// The file that could not be read to its end. The SIGBUS handler records it (io/file_guard.cpp).
class FileFault {
 public:
  // Keeps the first file and drops all others. Safe in signal handlers.
  void record(const char* path) noexcept;
  bool is_set() const noexcept { return state_.load(std::memory_order_acquire) != State::kNone; }
  std::string path() const;  // truncated if very long; empty while it is being recorded

 private:
  enum class State { kNone, kRecording, kRecorded };
  std::atomic<State> state_{State::kNone};
  std::array<char, 1024> path_{};
};

void throw_if_cancelled();
// Throws Error{kIo} if a file was truncated while a scope of this thread read it.
void throw_if_file_was_cut();
// The file fault of this thread's innermost scope; null if there is none.
std::shared_ptr<FileFault> fault_of_scope() noexcept;
// Returns the message about a truncated file, from the scopes of this thread or from one that an exception
// has just ended, because the truncation may have caused another error first. Clears the latter.
std::optional<std::string> take_file_fault();
// True if one of the scopes was stopped by the user or by its deadline. A TimeLimit does not count.
bool is_cancelled() noexcept;

namespace detail {
extern constinit thread_local std::uint64_t steps;
}

// Counts one step of work that takes nanoseconds, such as looking up a value or reading a field. Every 1024th
// step of a thread calls throw_if_cancelled(). Graph lookups and the readers and editors of models count
// their steps, so every loop over the nodes of a model can be canceled.
inline void count_step() {
  constexpr std::uint64_t kInterval = 1024;
  if (++detail::steps % kInterval == 0) throw_if_cancelled();
}
// The number of steps counted by this thread: a measure of work that does not depend on the machine.
inline std::uint64_t counted_steps() noexcept { return detail::steps; }

// Reports that a stage with `total` steps begins; 0: unknown. `progress` may be null.
inline void begin_stage(Progress* progress, const char* stage, std::uint64_t total = 0) {
  if (progress == nullptr) return;
  progress->done = 0;
  progress->total = total;
  progress->stage = stage;
}

// During its lifetime, this thread and the threads that work for it (thread_pool.h) are in an additional
// scope.
class CancellationScope {
 public:
  // If `progress` is null, only the outer scopes can be stopped.
  explicit CancellationScope(const Progress* progress) noexcept;
  // Throws Error{kIo} if a file that was read in the scope was truncated, unless another exception is in
  // flight.
  ~CancellationScope() noexcept(false);
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  friend class CurrentScope;
  friend class TimeLimit;
  friend void throw_if_cancelled();
  friend void throw_if_file_was_cut();
  friend std::shared_ptr<FileFault> fault_of_scope() noexcept;
  friend std::optional<std::string> take_file_fault();
  friend bool is_cancelled() noexcept;

  using Moment = std::chrono::steady_clock::time_point;
  CancellationScope(const Progress* progress, Moment deadline, std::shared_ptr<FileFault> fault) noexcept;

  const Progress* progress_;
  Moment deadline_;  // the earliest of this scope and the outer ones
  const CancellationScope* outer_;
  std::shared_ptr<FileFault> fault_;  // null if there was no memory for it
  bool has_own_fault_;
  int exceptions_;  // in flight when the scope began
};

// During its lifetime, throw_if_cancelled() also throws after this time. If nested, the earliest limit
// applies.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);

 private:
  CancellationScope scope_;
};

// Passes the scope of this thread to another thread that works for it:
//   const CurrentScope current;
//   const CurrentScope::Scope scope(current);   // in the other thread
class CurrentScope {
 public:
  CurrentScope() noexcept;

  class Scope {
   public:
    explicit Scope(const CurrentScope& inherited) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const CancellationScope* outer_;
  };

 private:
  const CancellationScope* scope_;
};

}  // namespace ounce
