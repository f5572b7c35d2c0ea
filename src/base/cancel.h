// Stopping early. Every thread works for a call, perhaps for one inside of another; long work asks between
// tiles whether one of them was stopped, and unwinds with Error{kCancelled}, so that every destructor runs
// and no unfinished file stays behind.
//
//   const Call call(options.progress);   // in each public function
//   … throw_if_cancelled();              // in whatever takes long
#pragma once

#include <ounce/progress.h>

#include <chrono>

namespace ounce {

void throw_if_cancelled();
// Was one of the calls stopped, by somebody or by its deadline? A TimeLimit does not count.
bool is_cancelled() noexcept;

// While it lives, this thread and those that work for it (thread_pool.h) work for a call more.
class Call {
 public:
  explicit Call(const Progress* progress) noexcept;  // may be null: then only the calls around it count
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  friend class CallOfThread;
  friend class TimeLimit;
  friend void throw_if_cancelled();
  friend bool is_cancelled() noexcept;

  using Moment = std::chrono::steady_clock::time_point;
  Call(const Progress* progress, Moment deadline) noexcept;

  const Progress* progress_;
  Moment deadline_;  // the earliest of those around it
  const Call* outer_;
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
