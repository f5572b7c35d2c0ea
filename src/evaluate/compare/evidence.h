// What samples are worth as evidence about others: independent samples, one after the other, in constant
// memory.
#pragma once

#include <ounce/verify.h>

#include "evaluate/compare/difference.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {

// One output.
class OutputEvidence {
 public:
  // What has come to the meter since the last call is one more sample.
  void add(const OutputMeter& meter);
  void fill(OutputComparison& output) const;
  std::uint64_t samples() const { return samples_; }

 private:
  Difference before_, loud_before_;
  std::uint64_t answers_ = 0, other_answers_ = 0, samples_ = 0;
  PairedMean energy_, distance_, squares_;  // signal and noise; |a − b|, and (a − b)², of nothing
  EventCount others_, flips_, pair_flips_;
  OutputMeter::Decisions decisions_;
  bool decides_by_pairs_ = false;
};

}  // namespace ounce::evaluate
