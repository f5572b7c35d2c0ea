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
  std::function<void(double share)> progress = [](double) {};
};

struct Rounds {
  std::vector<std::vector<double>> seconds;  // of each thing, call by call
  std::vector<std::vector<double>> medians;  // of each thing, round by round
  std::uint64_t count = 0;
};

// Warms up first. Throws Error{kCancelled}.
Rounds run_rounds(const std::vector<Call>& calls, const RoundOptions& options);

Latency latency_of(std::vector<double> seconds);

// How much faster is `other` than `base`? The median of the rounds' ratios, and what 95 % of bootstrap draws
// of the rounds give.
SpeedUp speed_up(const std::vector<double>& base, const std::vector<double>& other);

}  // namespace ounce::measure
