// All that a search asks about models: how they are made up, how far their outputs are off, whether they pass
// the gate, how fast they are. measuring_evaluator.h answers by making and running them; tests answer from a
// script.
#pragma once

#include <ounce/error.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>
#include <ounce/tune.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "recipe/format_info.h"
#include "search/tune/layers.h"

namespace ounce::search {

// What a search has used of its budget, as if it had never been interrupted: what was found in the journal
// counts with the seconds that it took at first. So a run that goes on ends where it would have ended.
//
// A budget is a time or a number of models. Models are counted whether they are made or known from before,
// and no clock is asked then: such a search goes the same way on every machine.

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

// A layer, and how a recipe treats it.
struct TreatedLayer {
  Layer layer;
  Format format = Format::kFp32;
};

// What was found for a recipe that leaves something open.
struct Resolution {
  std::string problem;  // why there is none; empty if there is
  Recipe recipe;
  std::vector<std::string> notes;
};

struct MeasuredMemory {
  LoadMemory memory;
  double ratio = 1;  // its peak, as a share of the original's
};

class Evaluator {
 public:
  explicit Evaluator(Clock& clock) : clock_(clock) {}
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Noise over signal at the worst output, of each on a few samples; infinite when it cannot be made.
  virtual std::vector<double> noises(const std::vector<Recipe>& recipes) = 0;
  // Bytes and quality on all samples that are for searching; without a time. When it cannot be made, the
  // trial says why.
  virtual TuneTrial judge(const Recipe& recipe, const std::string& name) = 0;
  virtual std::vector<TreatedLayer> layers(const Recipe& recipe) = 0;
  // Otherwise it is what storing it is.
  virtual bool computes_on_integers(const Recipe& recipe) = 0;
  // What quantize() would choose for static arithmetic until the outputs come within `close_enough` dB, or
  // until it has used `most` of the budget.
  virtual Resolution resolve_static(double close_enough, double most) = 0;
  virtual std::uint64_t original_bytes() const = 0;
  // What loading it takes; nothing where a system does not tell.
  virtual std::optional<MeasuredMemory> memory(const Recipe&) { return std::nullopt; }

  // How much faster each is than the original, all in one timed comparison; so many seconds for each. All of
  // them can be made. With a budget of models nothing is timed: what is said then follows from the formats.
  // Where the machine was too busy, the ratio is 1, not measurable and not reliable.
  std::vector<SpeedUp> timed_comparison(const std::vector<Recipe>& recipes, double seconds,
                                        int repetition = 0);
  // The same, but who comes out a little slower than the original is timed twice more, each time loaded anew,
  // and the middle one counts: where a session happens to lie in memory is worth some percent.
  std::vector<SpeedUp> time(const std::vector<Recipe>& recipes, double seconds);

  // Measurements are stopped, with Error{kCancelled}, when no more than this is left of the budget.
  virtual void keep_back(double seconds) = 0;
  const Clock& clock() const { return clock_; }

 protected:
  virtual std::vector<SpeedUp> measure_times(const std::vector<Recipe>& recipes, double seconds,
                                             int repetition) = 0;
  SpeedUp assumed_speed(const Recipe& recipe);

  Clock& clock_;
};

// Is an error a candidate's own fault, so that the search goes on with others?

inline bool is_own_failure(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kUnsupported:
    case ErrorCode::kBadInput:
    case ErrorCode::kTimeout:
    case ErrorCode::kMemory:
    case ErrorCode::kInternal: return true;
    default: return false;
  }
}

// Did the machine give it too little? That is no fact about the candidate: another day there may be more.
inline bool is_shortage(const Error& error) {
  return error.code() == ErrorCode::kTimeout || error.code() == ErrorCode::kMemory;
}

// How many sessions of a model the memory and the CPUs let run at the same time.

// Models of so many bytes that half of the free memory holds, decoded; at least 1.
std::uint64_t sessions_in_memory(std::uint64_t model_bytes);

// Each with the threads of `runtime`, on `cpus` CPUs (0: all).
unsigned side_by_side(std::uint64_t model_bytes, const RuntimeOptions& runtime, unsigned cpus);

// What a search is for: which of two models is the better one, and which are on the front that nothing beats.

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
