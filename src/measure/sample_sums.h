// Figures that are made of sums over the samples, such as F1 of what was found, missed and made up: each
// sample's sums are kept, so that a paired bootstrap can draw samples anew and tell how sure a figure is.
//
//   SampleSums sums;
//   sums.add({hits, found, there}, {candidate_hits, candidate_found, there});   // for each sample
//   sums.result("f1", true, MetricUnit::kShare, [](auto s) { return 2 * s[0] / (s[1] + s[2]); });
#pragma once

#include <ounce/verify.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ounce::measure {

class SampleSums {
 public:
  // As many numbers each time.
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

}  // namespace ounce::measure
