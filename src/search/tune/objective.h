// What a search is for: which of two models is the better one, and which are on the front that nothing beats.
#pragma once

#include <ounce/recipe.h>
#include <ounce/tune.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "recipe/format_info.h"

namespace ounce::search {

// SQNR for comparisons: a trial whose outputs could not be compared (NaN) ranks below all others.
inline double sqnr_rank(const TuneTrial& trial) {
  return std::isnan(trial.sqnr_db) ? -std::numeric_limits<double>::infinity() : trial.sqnr_db;
}

// By more than two timed comparisons of the same model may differ; for memory, by more than may be given away
// for it. An unreliable timing shows nothing: only where the objective is memory does a model have to prove
// its speed.
bool is_slower(const SpeedUp& speed, Objective objective = Objective::kBalanced);

// Is it smaller than the original, or faster, or does it take less memory?
bool gains(const TuneTrial& trial);

// May it be the answer? It passed, is not slower than the original, and gains something.
bool is_eligible(const TuneTrial& trial);

// Differences that a timing cannot show do not count: of two that are equally good for the objective, the one
// with the better quality is better.
bool is_better(const TuneTrial& a, const TuneTrial& b, Objective objective);

// Smaller is better: time × bytes, time, bytes, or memory at load, as shares of the original's. Balanced is
// who gains both ways: what is not faster than the original counts twice, so that the smallest storage does
// not win over models that are nearly as small and fast.
double cost_of(const TuneTrial& trial, Objective objective);

// Marks the trials that no other eligible one beats in bytes, time and quality at once, and of the eligible
// ones the smallest, the fastest and the closest (the first where several are).
void mark_front(std::vector<TuneTrial>& trials);

// Why a model that was tried cannot be the answer, in a few words for a table.

// Empty if it can be. `held_out`: the result on the held-out data, if that refused it and is known.
std::string rejection_of(const TuneTrial& trial, Objective objective, const TuneTrial* held_out = nullptr);

// How sure each model has to be that is tried on the held-out part of the data, so that what comes out in the
// end holds its gate elsewhere with the confidence that was asked for.
//
// One try may err once in a while; several may do so more often. What may go wrong (1 − confidence) is
// shared: the tries up to the first one that fails get a half of it, those up to the next failure a half of
// what is left, and so on. A try that passes costs nothing: the next one is made only because this one was
// good. So however many are tried, all of them together do not err more often than was allowed.

class ValidationAttempts {
 public:
  explicit ValidationAttempts(double confidence) : confidence_(confidence) {}  // 0: the samples alone decide

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
  const bool is_stored = info_of(recipe.format).family == Family::kWeights;
  return is_stored && recipe.nodes.empty() && recipe.rounding != Rounding::kAdaptive;
}

}  // namespace ounce::search
