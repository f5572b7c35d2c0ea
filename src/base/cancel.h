// Stopping early. ounce::request_cancel() asks (from a signal handler, perhaps); long work checks between
// tiles and unwinds with Error{kCancelled}, so that every destructor runs and no unfinished file stays
// behind.
#pragma once

#include <cstdint>

namespace ounce {

void throw_if_cancelled();
bool is_cancelled() noexcept;

// While it lives, throw_if_cancelled() throws after so many seconds too: in this thread, and in those that
// work for it (thread_pool.h); what other threads do is none of its business. One inside of another ends when
// the earlier one does.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  std::int64_t outer_;
};

// The time limit of one thread, for another one that works for it:
//   const Deadline limit = Deadline::of_this_thread();
//   … in the other thread: const Deadline::Scope scope(limit);
class Deadline {
 public:
  static Deadline of_this_thread() noexcept;

  class Scope {
   public:
    explicit Scope(const Deadline& deadline) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::int64_t outer_;
  };

 private:
  explicit Deadline(std::int64_t moment) : moment_(moment) {}
  std::int64_t moment_;
};

}  // namespace ounce
