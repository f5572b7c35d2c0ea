// What the search for a static recipe has found so far, and what it has spent on it: the stages of the search
// try variants here.
//
// Where a sample costs much, variants are looked at on few samples (`guess`), and what is found is confirmed
// on more of them (`measure`, `take`). How much is tried is counted in multiplications, and each stage may
// spend a share of them, with what stages before it left over.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "quantize/candidate_error.h"
#include "quantize/prepared_model.h"
#include "quantize/static_search.h"

namespace ounce::quantization {

// Shares of what may be spent, each with what stages before it left over.
inline constexpr double kForCalibration = 0.3, kForNoise = 0.55, kForFloats = 0.75, kForRanges = 0.8,
                        kForAll = 1;

inline double noise_at(double decibels) { return std::pow(10, -decibels / 10); }

// A node that a recipe lets compute in INT8, and that has a weight.
struct IntegerNode {
  std::string output;               // names it
  std::vector<std::string> values;  // that are codes: what it takes, what it gives
  std::string label;
  double work = 0;  // multiplications for one sample
};

class StaticTrials {
 public:
  StaticTrials(const QuantizeOptions& options, const StaticLimits& limits, const MakeErrorMeter& make_meter,
               std::shared_ptr<const PreparedModel> prepared, const Recipe& recipe);

  bool can_measure() const { return meter_ != nullptr && meter_->samples() != 0; }
  // Those of the recipe at the beginning, in the order of the graph.
  const std::vector<IntegerNode>& nodes() const { return nodes_; }

  // The best so far, and its noise over signal.
  const Recipe& best() const { return best_; }
  double least() const { return least_; }
  double best_decibels() const { return decibels(least_); }
  void set_best(const Recipe& recipe, double error);

  // The model that variants are made of; where there is data enough, known by one half of it alone and judged
  // on the other.
  const PreparedModel& judged() const { return *judged_; }
  bool is_judged_by_half() const { return judged_ != prepared_; }
  const std::shared_ptr<const PreparedModel>& prepared() const { return prepared_; }
  void use(std::shared_ptr<const PreparedModel> prepared, double error);
  void use_all_ranges(double error);  // from here on those of all data …
  void use_half_the_ranges();         // … or the result has those of one half

  double measure(const PreparedModel& prepared, const Recipe& recipe);
  double measure(const Recipe& recipe) { return measure(*judged_, recipe); }
  double guess(const Recipe& recipe);
  double guess_of_best() { return has_few() ? guess(best_) : least_; }
  // Takes a recipe if it is better than the best so far. Guesses are then made of the samples that tell the
  // most about it: others may now be the worst.
  bool take(const Recipe& recipe, double limit) { return take(recipe, limit, measure(recipe)); }
  bool take(const Recipe& recipe, double limit, double error);  // whose error is known

  void choose_few();  // by what was measured last
  bool has_few() const { return few_ < meter_->samples(); }
  std::uint64_t few() const { return few_; }
  std::uint64_t samples() const { return meter_->samples(); }
  std::size_t measured() const { return meter_->measured(); }

  bool has_time() const { return limits_.has_time(); }
  bool may_spend(double share) const { return limits_.has_time() && spent_ < share * to_spend_; }

 private:
  double cost_of(std::uint64_t samples) const;
  void show_progress() const;

  const QuantizeOptions& options_;
  const StaticLimits& limits_;
  std::shared_ptr<const PreparedModel> prepared_, judged_;
  Recipe best_;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<IntegerNode> nodes_;
  std::unique_ptr<ErrorMeter> meter_;
  std::uint64_t few_ = 0;  // samples that guesses are made of
  double sample_work_ = 0, spent_ = 0, to_spend_ = 0;
};

// Where there is data enough, the model with the ranges of one half of it.
std::shared_ptr<const PreparedModel> as_judged(const std::shared_ptr<const PreparedModel>& prepared);

}  // namespace ounce::quantization
