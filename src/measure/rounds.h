// Times several things against each other: in short rounds, each thing in each round, in an order that
// rotates, so that a busy moment of the machine hits all of them.
#pragma once

#include <ounce/bench.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ounce::measure {

using Call = std::function<double()>;  // runs once and gives the seconds it took

struct RoundOptions {
  double seconds = 2;       // for each thing, in all
  std::uint64_t calls = 0;  // for each thing instead
  // Wall seconds, warm-up included: the round in which they end is the last one. 0: no limit.
  double deadline_seconds = 0;
  std::function<void(double share)> progress = [](double) {};
};

// The times of calls. All count; of many, evenly spread ones are kept for the percentiles.
class CallTimes {
 public:
  void add(double seconds);
  Latency latency() const;

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;
  std::vector<double> kept_;
  std::uint64_t count_ = 0, stride_ = 1;
  double total_ = 0, least_ = 0;
};

double median(std::vector<double> values);  // of one at least

struct Rounds {
  std::vector<CallTimes> calls;              // of each thing
  std::vector<std::vector<double>> medians;  // of each thing, round by round
  std::uint64_t count = 0;
};

// Warms up first. Throws Error{kCancelled}.
Rounds run_rounds(const std::vector<Call>& calls, const RoundOptions& options);

// How much faster is `other` than `base`? The median of the rounds' ratios, and what 95 % of bootstrap draws
// of the rounds give.
SpeedUp speed_up(const std::vector<double>& base, const std::vector<double>& other);

}  // namespace ounce::measure
