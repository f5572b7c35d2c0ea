// What samples are worth as evidence about others: independent samples, one after the other, in constant
// memory.
#pragma once

#include <ounce/verify.h>

#include "measure/difference.h"
#include "measure/paired_bootstrap.h"

namespace ounce::measure {

// Events among the answers of samples. Answers of one sample (tokens, pixels) often change together: events
// that come s at a time are worth 1/s of them each, and where none has been seen, a sample could bring as
// many as the square root of its answers.
class EventCount {
 public:
  void add(double events, double answers);  // of one sample
  Tally tally() const;

 private:
  double events_ = 0, squares_ = 0, most_events_ = 0, answers_ = 0, most_answers_ = 0;
};

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

}  // namespace ounce::measure
