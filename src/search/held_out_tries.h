// How sure each model has to be that is tried on the held-out part of the data, so that what comes out in the
// end holds its gate elsewhere with the confidence that was asked for.
//
// One try may err once in a while; several may do so more often. What may go wrong (1 − confidence) is
// shared: the tries up to the first one that fails get a half of it, those up to the next failure a half of
// what is left, and so on. A try that passes costs nothing: the next one is made only because this one was
// good. So however many are tried, all of them together do not err more often than was allowed.
#pragma once

#include <ounce/recipe.h>

#include <cmath>

namespace ounce::search {

class HeldOutTries {
 public:
  explicit HeldOutTries(double confidence) : confidence_(confidence) {}  // 0: the samples alone decide

  double confidence() const { return confidence_; }
  double confidence_of_first() const { return after(0); }
  double confidence_of_next() const { return after(failures_); }
  void note_failure() { ++failures_; }

 private:
  double after(int failures) const {
    return confidence_ > 0 ? 1 - (1 - confidence_) * std::pow(0.5, failures + 1) : 0;
  }

  double confidence_;
  int failures_ = 0;
};

// What the data had no part in may be judged on all of it: there is nothing that it was fitted to.
inline bool is_made_without_data(const Recipe& recipe) {
  const bool is_stored =
      recipe.format == Format::kW8 || recipe.format == Format::kW16 || recipe.format == Format::kW4;
  return is_stored && recipe.nodes.empty() && recipe.rounding != Rounding::kAdaptive;
}

}  // namespace ounce::search
