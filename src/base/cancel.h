// Cancellation. Every thread works in a cancellation scope, and scopes may be nested. Long work asks between
// tiles whether one of its scopes was stopped, and unwinds with Error{kCancelled}, so that every destructor
// runs and no unfinished file stays behind.
//
//   const CancellationScope scope(options.progress);   // in each public function
//   … throw_if_cancelled();                            // in long work
//   … count_step();                                    // in short work that is done very often
//
// A file that is read in a scope may become shorter meanwhile (FileGuard in io/mapped_file.h). The bytes that
// were read then are not those of the file, so the scope ends with Error{kIo}: where the work asks whether it
// was stopped, before an output gets its name, or, at the latest, when the CancellationScope is destroyed.
#pragma once

#include <ounce/progress.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ounce {

// The file of a call that could not be read to its end. The handler of SIGBUS records it (io/file_guard.cpp).
class FileFault {
 public:
  // Keeps the first file and drops the others. Safe in signal handlers.
  void record(const char* path) noexcept;
  bool is_set() const noexcept { return state_.load(std::memory_order_acquire) != State::kNone; }
  std::string path() const;  // cut off where it is very long; empty while it is being recorded

 private:
  enum class State { kNone, kRecording, kRecorded };
  std::atomic<State> state_{State::kNone};
  std::array<char, 1024> path_{};
};

void throw_if_cancelled();
// Throws Error{kIo} if a file was cut while a scope of this thread read it.
void throw_if_file_was_cut();
// The file fault of the innermost scope of this thread; null when there is none.
std::shared_ptr<FileFault> fault_of_scope() noexcept;
// The message about a file that was cut, of the scopes of this thread or of one that has just ended by an
// exception: another error may have come of it first. Forgets the latter.
std::optional<std::string> take_file_fault();
// Was one of the scopes stopped, by the user or by its deadline? A TimeLimit does not count.
bool is_cancelled() noexcept;

namespace detail {
extern constinit thread_local std::uint64_t steps;
}

// One step of work that takes nanoseconds, such as looking up a value or reading a field. Every 1024th step
// of a thread calls throw_if_cancelled(). Graph lookups and the readers and editors of models count their
// steps, so every loop over the nodes of a model can be cancelled.
inline void count_step() {
  constexpr std::uint64_t kInterval = 1024;
  if (++detail::steps % kInterval == 0) throw_if_cancelled();
}
// The steps that this thread has counted: a measure of work that does not depend on the machine.
inline std::uint64_t counted_steps() noexcept { return detail::steps; }

// Tells a caller that a stage with `total` steps begins; 0: unknown. `progress` may be null.
inline void begin_stage(Progress* progress, const char* stage, std::uint64_t total = 0) {
  if (progress == nullptr) return;
  progress->done = 0;
  progress->total = total;
  progress->stage = stage;
}

// While it lives, this thread and those that work for it (thread_pool.h) are in one more scope.
class CancellationScope {
 public:
  // `progress` may be null: then only the outer scopes can be stopped.
  explicit CancellationScope(const Progress* progress) noexcept;
  // Throws Error{kIo} when a file was cut that was read in it, unless another exception is on its way.
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
  std::shared_ptr<FileFault> fault_;  // null when there was no memory for it
  bool has_own_fault_;
  int exceptions_;  // on their way when the call began
};

// While it lives, throw_if_cancelled() throws after so many seconds, too. Of nested ones the earliest counts.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);

 private:
  CancellationScope scope_;
};

// The scope of this thread, for another thread that works for it:
//   const CurrentScope current;
//   … in the other thread: const CurrentScope::Scope scope(current);
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
