// Does a gate hold on other data like this? What the samples show of it at a confidence, and how many of them
// would show enough.
#pragma once

#include <ounce/verify.h>

#include <cstdint>

namespace ounce::measure {

struct Bound {
  double value = 0;          // no worse than this, at the confidence
  bool holds = false;        // and that is good enough
  std::uint64_t needed = 0;  // samples like these that would do, if they do not; 0: no number of them
  bool is_short = false;     // not even a candidate without any difference could show it with so few
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

}  // namespace ounce::measure
