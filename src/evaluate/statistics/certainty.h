// Whether a gate generalizes to unseen data: the bound that samples show at a confidence, and how many
// samples would be enough.
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

// Standard deviations from the middle of a normal distribution to either bound of its 95 %.
inline constexpr double kDeviationsOf95 = 1.959964;

struct Bound {
  double value = 0;          // no worse than this, at the confidence
  bool holds = false;        // the bound meets the limit
  std::uint64_t needed = 0;  // samples that would be enough; 0: no number of them
  bool is_short = false;     // even an identical candidate could not show it with so few samples
};

class Certainty {
 public:
  Certainty(double confidence, const VerifyResult& result)
      : confidence_(confidence),
        samples_(static_cast<double>(result.samples)),
        independent_(static_cast<double>(result.independent_samples)) {}

  Bound agreement(const OutputComparison& output, double limit) const;  // exact
  Bound flips(const OutputComparison& output, double limit) const;      // exact
  Bound sqnr(const OutputComparison& output, double limit) const;       // by the bootstrap, as the next
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

// Clopper and Pearson's exact bounds of a share, one-sided: with this confidence the true share is at most
// (at least) the bound. Numbers need not be whole.
double binomial_upper(const Tally& events, double confidence);
double binomial_lower(const Tally& events, double confidence);

// The bound of a difference of two shares of the same answers, such as answers lost less answers won: each
// share's distance from its own exact bound, added like independent errors. With nothing won it is the exact
// bound of what is lost.
double paired_upper(const Tally& lost, const Tally& won, double confidence);

double normal_quantile(double share);
double student_quantile(double share, double freedom);

// Counts events among the predictions of samples. Predictions of one sample (tokens, pixels) often change
// together: of events that come s at a time each counts 1/s, and without any event a sample could have as
// many as the square root of its predictions.
class EventCount {
 public:
  void add(double events, double answers);  // of one sample
  Tally tally() const;

 private:
  double events_ = 0, squares_ = 0, most_events_ = 0, answers_ = 0, most_answers_ = 0;
};

// The number of replicas of a paired bootstrap in constant memory: each sample takes part in each replica a
// Poisson(1) number of times, which approximates drawing with replacement.
inline constexpr std::size_t kReplicas = 1000;

// How often sample number `sample` takes part in each replica. The same for every run.
void draw_weights(std::uint64_t sample, std::array<std::uint8_t, kReplicas>& weights);

struct Interval {
  double low = 0, high = 0;
};
// The middle 95 % of the replicas' results.
Interval middle(std::vector<double> results);

// Two ratios of sums, such as correct answers / answers, of the reference and of the candidate.
class PairedMean {
 public:
  // One sample: the sums of its values, and how many values they are.
  void add(double reference, double candidate, double count = 1);

  // NaN when nothing was counted.
  double reference() const { return all_.reference / all_.count; }
  double candidate() const { return all_.candidate / all_.count; }
  // Of transform(reference) − transform(candidate).
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

// Figures of sums over the samples, such as F1: each sample's sums are kept, so that a paired bootstrap can
// resample them for the confidence interval of a figure.
//
//   SampleSums sums;
//   sums.add({hits, found, there}, {candidate_hits, candidate_found, there});   // for each sample
//   sums.result("f1", true, MetricUnit::kShare, [](auto s) { return 2 * s[0] / (s[1] + s[2]); });
class SampleSums {
 public:
  // The same number of values each time.
  void add(const std::vector<double>& reference, const std::vector<double>& candidate);

  // NaN when nothing was counted.
  using Figure = std::function<double(std::span<const double>)>;
  MetricResult result(std::string name, bool higher_is_better, MetricUnit unit, const Figure& figure) const;
  // The first number over the second one.
  MetricResult mean(std::string name, bool higher_is_better, MetricUnit unit) const;

 private:
  std::size_t width_ = 0, samples_ = 0;
  std::vector<double> reference_, candidate_;  // sample by sample
};

}  // namespace ounce::evaluate
