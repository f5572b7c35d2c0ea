// The time that a search has used, as if it had never been interrupted: what was found in the journal counts
// with the seconds that it took at first. So a run that goes on ends where it would have ended.
#pragma once

#include "base/stopwatch.h"

namespace ounce::search {

class Clock {
 public:
  explicit Clock(double budget) : budget_(budget) {}

  void credit(double seconds) { credited_ += seconds; }
  double elapsed() const { return watch_.seconds() + credited_; }
  double left() const { return budget_ - elapsed(); }
  double budget() const { return budget_; }
  double real_seconds() const { return watch_.seconds(); }

 private:
  Stopwatch watch_;
  double budget_, credited_ = 0;
};

}  // namespace ounce::search
