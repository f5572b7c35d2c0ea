// All that a search asks about models: how they are made up, how far their outputs are off, whether they pass
// the gate, how fast they are. measuring_evaluator.h answers by making and running them; tests answer from a
// script.
#pragma once

#include <ounce/error.h>
#include <ounce/tune.h>

#include <optional>
#include <string>
#include <vector>

#include "search/tune/clock.h"
#include "search/tune/layers.h"

namespace ounce::search {

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

  // How much faster each is than the original, all in one contest; so many seconds for each. All of them
  // can be made. With a budget of models nothing is timed: what is said then follows from the formats. Where
  // the machine was too busy, the ratio is 1, not measurable and not reliable.
  std::vector<SpeedUp> contest(const std::vector<Recipe>& recipes, double seconds, int repetition = 0);
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

}  // namespace ounce::search
