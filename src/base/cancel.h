// Stopping early. Every thread works for a call, perhaps for one inside of another; long work asks between
// tiles whether one of them was stopped, and unwinds with Error{kCancelled}, so that every destructor runs
// and no unfinished file stays behind.
//
//   const Call call(options.progress);   // in each public function
//   … throw_if_cancelled();              // in whatever takes long
//   … count_step();                      // in what is short and done very often
//
// A file that a call reads may become shorter meanwhile (io/file_guard.h). What was read then is not what was
// in the file, so the call ends with Error{kIo}: where it asks whether it was stopped, before an output gets
// its name, or, at the latest, when the Call goes.
#pragma once

#include <ounce/progress.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"

namespace ounce {

void throw_if_cancelled();
// The second half of it: throws Error{kIo}.
void throw_if_file_was_cut();
// Of the call that this thread works for; null when there is none.
std::shared_ptr<FileFault> fault_of_call() noexcept;
// What to say of a file that was cut, of the calls that this thread works for or of one that it has just
// ended by an exception: another error may have come of it first. Forgets the latter.
std::optional<std::string> take_file_fault();
// Was one of the calls stopped, by somebody or by its deadline? A TimeLimit does not count.
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
// The steps that this thread has counted: a measure of its work that does not depend on the machine.
inline std::uint64_t counted_steps() noexcept { return detail::steps; }

// While it lives, this thread and those that work for it (thread_pool.h) work for a call more.
class Call {
 public:
  explicit Call(const Progress* progress) noexcept;  // may be null: then only the calls around it count
  // Throws Error{kIo} when a file of it was cut, unless something else is thrown already.
  ~Call() noexcept(false);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  friend class CallOfThread;
  friend class TimeLimit;
  friend void throw_if_cancelled();
  friend void throw_if_file_was_cut();
  friend std::shared_ptr<FileFault> fault_of_call() noexcept;
  friend std::optional<std::string> take_file_fault();
  friend bool is_cancelled() noexcept;

  using Moment = std::chrono::steady_clock::time_point;
  Call(const Progress* progress, Moment deadline, std::shared_ptr<FileFault> fault) noexcept;

  const Progress* progress_;
  Moment deadline_;  // the earliest of those around it
  const Call* outer_;
  std::shared_ptr<FileFault> fault_;  // null when there was no memory for it
  bool has_own_fault_;
  int exceptions_;  // that were on their way when it began
};

// While it lives, throw_if_cancelled() throws after so many seconds too. One inside of another ends when the
// earlier one does.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);

 private:
  Call call_;
};

// The call of one thread, for another one that works for it:
//   const CallOfThread call;
//   … in the other thread: const CallOfThread::Scope scope(call);
class CallOfThread {
 public:
  CallOfThread() noexcept;

  class Scope {
   public:
    explicit Scope(const CallOfThread& call) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Call* outer_;
  };

 private:
  const Call* call_;
};

}  // namespace ounce
