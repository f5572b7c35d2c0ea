// Stopping early. ounce::request_cancel() asks (from a signal handler, perhaps); long work checks between
// tiles and unwinds with Error{kCancelled}, so that every destructor runs and no unfinished file stays
// behind.
#pragma once

#include <cstdint>

namespace ounce {

void throw_if_cancelled();
bool is_cancelled() noexcept;

// While it lives, throw_if_cancelled() throws after so many seconds too, in all threads. One inside of
// another ends when the earlier one does.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  std::int64_t outer_;
};

}  // namespace ounce
