// What a search has used of its budget, as if it had never been interrupted: what was found in the journal
// counts with the seconds that it took at first. So a run that goes on ends where it would have ended.
//
// A budget is a time or a number of models. Models are counted whether they are made or known from before,
// and no clock is asked then: such a search goes the same way on every machine.
#pragma once

#include <ounce/error.h>
#include <ounce/tune.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace ounce::search {

class Clock {
 public:
  using Now = std::function<double()>;  // seconds since some moment

  explicit Clock(const Budget& budget, Now now = steady_seconds)
      : budget_(budget), now_(std::move(now)), begin_(now_()) {}

  bool counts_models() const { return budget_.models != 0; }
  // In what the budget is given in: seconds, or models.
  double budget() const { return counts_models() ? static_cast<double>(budget_.models) : budget_.seconds; }
  double elapsed() const {
    return counts_models() ? static_cast<double>(models_) : real_seconds() + credited_;
  }
  double left() const { return budget() - elapsed(); }
  double real_seconds() const { return now_() - begin_; }

  // A measurement that was known from before, and took so long at first.
  void credit(double seconds) { credited_ += seconds; }
  // Models that are about to be measured. Throws Error{kCancelled} when the budget does not allow for them.
  void count(std::uint64_t models) {
    if (counts_models() && models_ + models > budget_.models)
      throw Error(ErrorCode::kCancelled, "so many models were not to be made");
    models_ += models;
  }

 private:
  static double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  Budget budget_;
  Now now_;
  double begin_, credited_ = 0;
  std::uint64_t models_ = 0;
};

}  // namespace ounce::search
