// Finds by measuring what no statistics tell: which calibration suits a model, and which few of its nodes are
// better left in floats.
//
// 1. Each calibration method makes a model; the one whose outputs are closest to the original's wins.
//    If equalizing the channels between layers brings them closer, that is done.
// 2. While the outputs are not close enough, nodes stay in floats that make the largest errors for the time
//    that is lost by it (float_choice.h), but not much of it, and next to none for outputs that are close.
//    The calibration is looked at again then: what it does drowned in their noise.
// 3. Below 20 dB a model does not do its work: nodes stay in floats until it does, as long as it is faster
//    than in floats. If that cannot be had, all of them stay there; StaticResult::why_floats says so then.
// 4. While the outputs are still not close enough, other ranges are tried for the values around the nodes
//    with the largest errors.
//
// Every step is taken because a measurement says so, on the calibration data and without labels; where there
// is data enough, on the half of it that the ranges have not seen: ranges that cut off what is rare look good
// on what they were made of. Where a sample costs much, steps are found on few and confirmed on more. How
// much is tried is counted in multiplications, each stage has its share of them, and the clock is asked only
// where a limit says so: the result is the same again.
#pragma once

#include <ounce/quantize.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/quality.h"
#include "quantize/candidate_error.h"
#include "quantize/static_model.h"

namespace ounce::quantization {

// Shares of what may be spent, each with what stages before it left over.
inline constexpr double kForCalibration = 0.3, kForNoise = 0.55, kForFloats = 0.75, kForRanges = 0.8,
                        kForAll = 1;

inline double noise_at(double decibels) { return std::pow(10, -decibels / 10); }

// From so many samples on, half of them tell enough: the one that ranges have not seen. With fewer, all are
// measured on.
inline constexpr std::uint64_t kManyForSearch = 64;

struct StaticLimits {
  double close_enough = Quality::kGood;  // dB; from here on no more effort is made, as it would fit noise …
  double good = 35;                      // dB; … but for what costs next to nothing
  // In multiplications: some fifteen seconds. Large models get what it takes to get anywhere.
  double most_work = 3.6e11;
  // Above zero: replaces `most_work` by this number of runs of a candidate on all calibration data, for
  // estimates. The number of samples of an estimate then follows from the spread of the error over samples.
  double passes = 0;
  // From this number of samples on, candidates are judged on the half of the samples that their ranges have
  // not seen.
  std::uint64_t least_to_split = kManyForSearch;
  // A search that repairs what comes out: then nothing is spent on saving what would be all floats.
  bool others_go_on = false;
  // Asked before each step; once it says no, what is best so far is the result.
  std::function<bool()> has_time = [] { return true; };
};

// The best recipe so far of the search for a static recipe, and the budget that is left: the stages of the
// search try candidates here.
//
// Where a sample costs much, candidates are compared on few samples (`estimate`) and confirmed on more
// (`measure`, `accept`). The budget is counted in multiplications. Each stage may spend a share of it, and
// what the stages before it left over.
class SearchBudget {
 public:
  SearchBudget(const QuantizeOptions& options, const StaticLimits& limits,
               const MakeCandidateError& make_meter, std::shared_ptr<const StaticModel> prepared,
               const Recipe& recipe);

  // True if the best recipe is usable on other samples of this kind, too: with 95 % confidence, by the spread
  // of the error over the samples.
  bool is_surely_usable() const;
  bool can_measure() const { return meter_ != nullptr && meter_->samples() != 0; }
  // The nodes of the recipe at the beginning, in the order of the graph.
  const std::vector<IntegerNode>& nodes() const { return nodes_; }

  // The best recipe so far, and its noise-to-signal ratio.
  const Recipe& best() const { return best_; }
  double least() const { return least_; }
  double best_decibels() const { return decibels(least_); }
  void set_best(const Recipe& recipe, double error);

  // The model that candidates are made of. Where there is enough data, its ranges come from one half of the
  // data, and candidates are judged on the other half.
  const StaticModel& judged() const { return *judged_; }
  bool is_judged_by_half() const { return judged_ != prepared_; }
  const std::shared_ptr<const StaticModel>& prepared() const { return prepared_; }
  void use(std::shared_ptr<const StaticModel> prepared, double error);
  void use_all_ranges(double error);  // from here on the ranges of all data …
  void use_half_the_ranges();         // … or the result keeps those of one half

  double measure(const StaticModel& prepared, const Recipe& recipe);
  double measure(const Recipe& recipe) { return measure(*judged_, recipe); }
  double estimate(const Recipe& recipe);
  double estimate_of_best() { return has_few() ? estimate(best_) : least_; }
  // Accepts a recipe as the best one if its error is less than `limit`. Then chooses the samples of estimates
  // anew, as others may now be the worst.
  bool accept(const Recipe& recipe, double limit) { return accept(recipe, limit, measure(recipe)); }
  bool accept(const Recipe& recipe, double limit, double error);  // with a known error

  void choose_few();  // by the last measurement
  bool has_few() const { return few_ < meter_->samples(); }
  std::uint64_t few() const { return few_; }
  std::uint64_t samples() const { return meter_->samples(); }
  std::size_t measured() const { return meter_->measured(); }

  bool has_time() const { return limits_.has_time(); }
  bool may_spend(double share) const { return limits_.has_time() && spent_ < share * to_spend_; }

 private:
  double cost_of(std::uint64_t samples) const;
  std::uint64_t enough_samples() const;
  void show_progress() const;

  const QuantizeOptions& options_;
  const StaticLimits& limits_;
  std::shared_ptr<const StaticModel> prepared_, judged_;
  Recipe best_;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<IntegerNode> nodes_;
  std::unique_ptr<CandidateError> meter_;
  std::uint64_t few_ = 0, most_few_ = 0;  // samples that estimates are made of, and may be made of
  double sample_work_ = 0, spent_ = 0, to_spend_ = 0;
};

// The model with the ranges of one half of the data, or `prepared` itself where there is too little data for
// a split.
std::shared_ptr<const StaticModel> judge_split(const std::shared_ptr<const StaticModel>& prepared);

struct StaticResult {
  std::shared_ptr<const StaticModel> prepared;  // equalized if that is better
  Recipe recipe;
  std::string why_floats;  // nothing of it computes in INT8, as was found by measuring
};

// Adds notes. `limits` has to live as long as the search.
StaticResult search_static(const QuantizeOptions& options, const StaticLimits& limits,
                           const MakeCandidateError& make_meter, std::shared_ptr<const StaticModel> prepared,
                           const Recipe& recipe, std::vector<std::string>& notes);

}  // namespace ounce::quantization
