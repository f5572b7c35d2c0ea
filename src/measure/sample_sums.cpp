#include "measure/sample_sums.h"

#include <cmath>

#include "measure/paired_bootstrap.h"

namespace ounce::measure {
namespace {

constexpr std::size_t kRedrawn = 200;  // times that samples are drawn anew

}  // namespace

void SampleSums::add(const std::vector<double>& reference, const std::vector<double>& candidate) {
  width_ = reference.size();
  ++samples_;
  reference_.insert(reference_.end(), reference.begin(), reference.end());
  candidate_.insert(candidate_.end(), candidate.begin(), candidate.end());
}

MetricResult SampleSums::result(std::string name, bool higher_is_better, MetricUnit unit,
                                const Figure& figure) const {
  // The first row counts every sample once.
  std::vector<double> ours((kRedrawn + 1) * width_), theirs(ours.size());
  std::array<std::uint8_t, kReplicas> weights{};
  for (std::size_t sample = 0; sample < samples_; ++sample) {
    draw_weights(sample, weights);
    for (std::size_t row = 0; row <= kRedrawn; ++row) {
      const double weight = row == 0 ? 1 : weights[row - 1];
      if (weight == 0) continue;
      for (std::size_t i = 0; i < width_; ++i) {
        ours[row * width_ + i] += weight * reference_[sample * width_ + i];
        theirs[row * width_ + i] += weight * candidate_[sample * width_ + i];
      }
    }
  }
  const auto of = [&](const std::vector<double>& sums, std::size_t row) {
    return samples_ == 0 ? std::nan("") : figure(std::span(sums).subspan(row * width_, width_));
  };
  const double sign = higher_is_better ? 1 : -1;
  MetricResult result;
  result.name = std::move(name);
  result.higher_is_better = higher_is_better;
  result.unit = unit;
  result.reference = of(ours, 0);
  result.candidate = of(theirs, 0);
  result.drop = sign * (result.reference - result.candidate);
  std::vector<double> drops;
  for (std::size_t row = 1; row <= kRedrawn; ++row) drops.push_back(sign * (of(ours, row) - of(theirs, row)));
  const Interval interval = middle(std::move(drops));
  result.drop_low = interval.low;
  result.drop_high = interval.high;
  return result;
}

MetricResult SampleSums::mean(std::string name, bool higher_is_better, MetricUnit unit) const {
  return result(std::move(name), higher_is_better, unit,
                [](std::span<const double> sums) { return sums[1] == 0 ? std::nan("") : sums[0] / sums[1]; });
}

}  // namespace ounce::measure
