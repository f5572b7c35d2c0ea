// Counts events among predictions that are not independent of each other.
#pragma once

#include <ounce/verify.h>

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

}  // namespace ounce::measure
