// The measurements that a search needs of candidates: their layers, output error, quality and speed.
// MeasuringEvaluator makes and runs the candidates; tests use scripted results.
#pragma once

#include <ounce/error.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>
#include <ounce/search.h>

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

// The used part of a search's budget. Measurements found in the journal count with the seconds that they took
// when they were made, so that a resumed search ends where an uninterrupted one would have ended.
//
// A budget is a time or a number of models. With a number of models no clock is read, and recalled models
// count as well: such a search takes the same decisions on every machine.

class Clock {
 public:
  using Now = std::function<double()>;  // seconds since some moment

  explicit Clock(const Budget& budget, Now now = steady_seconds)
      : budget_(budget), now_(std::move(now)), begin_(now_()) {}

  bool counts_models() const { return budget_.models != 0; }
  // budget(), elapsed() and left() are in the unit of the budget: seconds or models.
  double budget() const { return counts_models() ? static_cast<double>(budget_.models) : budget_.seconds; }
  double elapsed() const {
    return counts_models() ? static_cast<double>(models_) : real_seconds() + credited_;
  }
  double left() const { return budget() - elapsed(); }
  double real_seconds() const { return now_() - begin_; }

  // Adds the original duration of a measurement that was found in the journal.
  void credit(double seconds) { credited_ += seconds; }
  // Counts models before they are measured. Throws Error{kCancelled} if they exceed the budget.
  void count(std::uint64_t models) {
    if (counts_models() && models_ + models > budget_.models)
      throw Error(ErrorCode::kCancelled, "the budget of models is used up");
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

// A layer and the format that a recipe gives it.
struct TreatedLayer {
  Layer layer;
  Format format = kUnchanged;
};

// A recipe with all choices made.
struct Resolution {
  std::string problem;  // why there is no recipe; else empty
  Recipe recipe;
  std::vector<std::string> notes;
};

struct MeasuredMemory {
  LoadMemory memory;
  double ratio = 1;  // peak memory relative to the original's
};

class Evaluator {
 public:
  explicit Evaluator(Clock& clock) : clock_(clock) {}
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Noise-to-signal power ratio of the worst output of each recipe, on a few samples; infinite for a recipe
  // that cannot be made.
  virtual std::vector<double> noises(const std::vector<Recipe>& recipes) = 0;
  // Measures size and quality on all search samples, without timing. The trial's `problem` says why a
  // candidate cannot be made.
  virtual TuneTrial judge(const Recipe& recipe, const std::string& name) = 0;
  virtual std::vector<TreatedLayer> layers(const Recipe& recipe) = 0;
  // False for recipes that are not worth a try with models of this kind.
  virtual bool can_make(const Recipe&) const { return true; }
  // False if no layer would run in INT8: the result would be a weight-only model.
  virtual bool computes_on_integers(const Recipe& recipe) = 0;
  // Makes the choices of quantize() for static INT8. Stops when the outputs reach `close_enough` dB SQNR or
  // when it has used `most` of the budget.
  virtual Resolution resolve_static(double close_enough, double most) = 0;
  virtual std::uint64_t original_bytes() const = 0;
  // Memory use after loading; nothing on systems that do not report it.
  virtual std::optional<MeasuredMemory> memory(const Recipe&) { return std::nullopt; }

  // Speed relative to the original, measured in one comparison with `seconds` per recipe. All recipes must be
  // makable. With a budget of models nothing is timed: the result follows from the formats. If the machine
  // was too busy, the ratio is 1 and marked as not measurable and not reliable.
  std::vector<SpeedUp> timed_comparison(const std::vector<Recipe>& recipes, double seconds,
                                        int repetition = 0);
  // The same, but candidates that come out slightly slower than the original are loaded and timed twice more,
  // and the median counts: the placement of a session in memory changes its speed by some percent.
  std::vector<SpeedUp> time(const std::vector<Recipe>& recipes, double seconds);

  // Reserves this part of the budget: measurements throw Error{kCancelled} when no more is left.
  virtual void keep_back(double seconds) = 0;
  const Clock& clock() const { return clock_; }

 protected:
  virtual std::vector<SpeedUp> measure_times(const std::vector<Recipe>& recipes, double seconds,
                                             int repetition) = 0;
  SpeedUp assumed_speed(const Recipe& recipe);

  Clock& clock_;
};

// True if an error concerns only one candidate, so that the search continues with others.

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

// True if the machine lacked time or memory. Such an error is not recorded, because a later run may succeed.
inline bool is_shortage(const Error& error) {
  return error.code() == ErrorCode::kTimeout || error.code() == ErrorCode::kMemory;
}

// The number of sessions of a model that memory and CPUs allow at the same time.

// Number of dequantized models of this size that fit into half of the free memory; at least 1.
std::uint64_t sessions_in_memory(std::uint64_t model_bytes);

// The same, limited by the CPUs: each session uses the threads of `runtime`, on `cpus` CPUs (0: all).
unsigned side_by_side(std::uint64_t model_bytes, const RuntimeOptions& runtime, unsigned cpus);

// The objective of a search: compares two candidates, and marks the Pareto front.

// SQNR for comparisons: a trial whose outputs could not be compared (NaN) ranks below all others.
inline double sqnr_rank(const TuneTrial& trial) {
  return std::isnan(trial.sqnr_db) ? -std::numeric_limits<double>::infinity() : trial.sqnr_db;
}

// True if a candidate is slower by more than the timing tolerance, or, with Objective::kMemory, by more than
// may be traded for memory. An unreliable timing counts as slower only with Objective::kMemory.
bool is_slower(const SpeedUp& speed, Objective objective = Objective::kBalanced);

// True if a candidate is smaller or faster than the original or takes less memory.
bool gains(const TuneTrial& trial);

// True if a candidate may be the result: it passed, is not slower than the original, and gains something.
bool is_eligible(const TuneTrial& trial);

// Compares by the objective. Differences below the timing tolerance do not count; of equals the one with the
// better quality is better.
bool is_better(const TuneTrial& a, const TuneTrial& b, Objective objective);

// The cost to minimize: time × bytes (balanced), time, bytes, or memory at load, relative to the original. In
// the balanced objective the cost of candidates that are not faster than the original is doubled, so that the
// smallest weight-only model does not win over models that are nearly as small and fast.
double cost_of(const TuneTrial& trial, Objective objective);

// Marks the Pareto front of bytes, time and quality among the eligible trials, and the smallest, the fastest
// and the closest of them (the first of equals).
void mark_front(std::vector<TuneTrial>& trials);

// Says in a few words, for a table, why a trial cannot be the result; empty if it can. `held_out`: its result
// on the holdout set, if it failed there.
std::string rejection_of(const TuneTrial& trial, Objective objective, const TuneTrial* held_out = nullptr);

// The confidence required of each candidate on the holdout set, corrected for multiple comparisons, so that
// the final model passes its gate on unseen data with the requested confidence.
//
// The permitted error probability (1 − confidence) is divided between the attempts: those up to and including
// the first failure get a half of it, those up to the next failure a half of the rest, and so on. A passing
// attempt uses up nothing, because the next attempt is made only if this one passed. So the total error
// probability stays within the permitted one for any number of attempts.

class ValidationAttempts {
 public:
  explicit ValidationAttempts(double confidence) : confidence_(confidence) {}  // 0: judge these samples only

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

// True if a recipe does not depend on the data. Such a model is judged on all samples, because it cannot be
// overfitted.
inline bool is_made_without_data(const Recipe& recipe) {
  const bool is_stored = info_of(recipe.format).family == Family::kWeights;
  return is_stored && recipe.nodes.empty() && recipe.rounding != Rounding::kAdaptive;
}

}  // namespace ounce::search
