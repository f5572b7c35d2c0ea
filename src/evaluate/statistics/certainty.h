// Confidence bounds: estimates whether a gate also passes on unseen data, and how many samples are needed to
// show it.
#pragma once

#include <ounce/verify.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ounce::evaluate {

// Half the width, in standard deviations, of the central 95 % interval of a normal distribution.
inline constexpr double kDeviationsOf95 = 1.959964;

struct Bound {
  double value = 0;          // the true value is no worse than this, at the confidence
  bool holds = false;        // the bound meets the limit
  std::uint64_t needed = 0;  // samples needed to meet the limit; 0: no number is enough
  bool is_short = false;     // too few samples even for a candidate without any change
};

class Certainty {
 public:
  Certainty(double confidence, const VerifyResult& result)
      : confidence_(confidence),
        samples_(static_cast<double>(result.samples)),
        independent_(static_cast<double>(result.independent_samples)) {}

  Bound agreement(const OutputComparison& output, double limit) const;  // exact
  Bound flips(const OutputComparison& output, double limit) const;      // exact
  Bound sqnr(const OutputComparison& output, double limit) const;       // by the bootstrap, as the following
  Bound sqnr(const OutputSlice& slice, double limit) const;
  Bound mean_square(const OutputComparison& output, double limit) const;
  Bound mean_difference(const OutputComparison& output, double limit) const;
  Bound drop(const MetricResult& metric, double limit) const;  // exact for accuracy, else by the bootstrap

 private:
  Bound sqnr(double decibels, double deviation, double limit) const;
  double deviations() const;
  std::uint64_t needed(double factor) const;
  Bound at_most(double value, double deviation, double limit) const;

  double confidence_, samples_, independent_;
};

// One-sided exact bounds of a share (Clopper-Pearson): with this confidence the true share is at most (at
// least) the bound. The counts may be fractions.
double binomial_upper(const Tally& events, double confidence);
double binomial_lower(const Tally& events, double confidence);

// The upper bound of the difference between two shares of the same predictions: those that became wrong
// (`lost`) minus those that became right (`won`). The distances of the shares from their exact bounds are
// added as independent errors. Without any `won` it equals the exact bound of `lost`.
double paired_upper(const Tally& lost, const Tally& won, double confidence);

double normal_quantile(double share);
double student_quantile(double share, double freedom);

// Counts events (changes) among the predictions of samples. Predictions of one sample (tokens, pixels) often
// change together, so they are not independent: if events occur in groups of s, each counts 1/s. Without any
// event, a group is assumed to have the square root of a sample's predictions.
class EventCount {
 public:
  void add(double events, double answers);  // adds one sample
  Tally tally() const;

 private:
  double events_ = 0, squares_ = 0, most_events_ = 0, answers_ = 0, most_answers_ = 0;
};

// The number of replicas of the paired bootstrap. It needs constant memory: each sample occurs in each
// replica a Poisson(1) number of times, which approximates sampling with replacement.
inline constexpr std::size_t kReplicas = 1000;

// Sets how often a sample occurs in each replica. Deterministic in `sample`.
void draw_weights(std::uint64_t sample, std::array<std::uint8_t, kReplicas>& weights);

struct Interval {
  double low = 0, high = 0;
};
// The central 95 % interval of the replicas' results.
Interval middle(std::vector<double> results);

// A ratio of sums, such as correct predictions / predictions, for the reference and for the candidate.
class PairedMean {
 public:
  // Adds one sample: the sums of its values, and the number of values.
  void add(double reference, double candidate, double count = 1);

  // NaN if nothing was counted.
  double reference() const { return all_.reference / all_.count; }
  double candidate() const { return all_.candidate / all_.count; }
  // The 95 % interval of transform(reference) − transform(candidate).
  Interval difference(const std::function<double(double)>& transform) const;

 private:
  struct Sums {
    double reference = 0, candidate = 0, count = 0;
  };
  std::uint64_t samples_ = 0;
  Sums all_;
  std::vector<Sums> replicas_ = std::vector<Sums>(kReplicas);
  std::array<std::uint8_t, kReplicas> weights_{};
};

// Metrics computed from sums over the samples, such as F1. Keeps the sums of each sample, so that a paired
// bootstrap can compute confidence intervals.
//
//   SampleSums sums;
//   sums.add({hits, found, there}, {candidate_hits, candidate_found, there});   // for each sample
//   sums.result("f1", true, MetricUnit::kShare, [](auto s) { return 2 * s[0] / (s[1] + s[2]); });
class SampleSums {
 public:
  // Adds one sample; the number of values must be the same for all samples.
  void add(const std::vector<double>& reference, const std::vector<double>& candidate);

  // NaN if nothing was counted.
  using Figure = std::function<double(std::span<const double>)>;
  MetricResult result(std::string name, bool higher_is_better, MetricUnit unit, const Figure& figure) const;
  // The ratio of the first sum to the second.
  MetricResult mean(std::string name, bool higher_is_better, MetricUnit unit) const;

 private:
  std::size_t width_ = 0, samples_ = 0;
  std::vector<double> reference_, candidate_;  // the sums of all samples in a row
};

}  // namespace ounce::evaluate
