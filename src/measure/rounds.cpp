#include "measure/rounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cancel.h"
#include "base/stopwatch.h"
#include "measure/paired_bootstrap.h"

namespace ounce::measure {
namespace {

constexpr double kSlot = 0.01;   // seconds of one thing in one round: short enough to share a noisy moment
constexpr double kWarmUp = 0.1;  // seconds
constexpr std::uint64_t kWarmCalls = 3;  // at least
constexpr std::uint64_t kLeastRounds = 10, kMostRoundsOfCalls = 100;
constexpr double kNoticeable = 0.01;

// What a call says it took, and what it costs here: more, when the thing is measured elsewhere.
struct CallCost {
  double seconds = 0, cost = 0;
};

// Warms up, and gives the best call.
CallCost warm_up(const Call& call) {
  CallCost best;
  double total = 0;
  for (std::uint64_t i = 0; i < kWarmCalls || total < kWarmUp; ++i) {
    throw_if_cancelled();
    const Stopwatch time;
    const double seconds = std::max(call(), 1e-7), cost = std::max(seconds, time.seconds());
    best.seconds = i == 0 ? seconds : std::min(best.seconds, seconds);
    best.cost = i == 0 ? cost : std::min(best.cost, cost);
    total += cost;
  }
  return best;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle_place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle_place, values.end());
  return *middle_place;
}

Rounds run_rounds(const std::vector<Call>& calls, const RoundOptions& options) {
  const Stopwatch time;
  std::vector<std::uint64_t> in_slot;
  double slots = 0;
  for (const Call& call : calls) {
    const CallCost best = warm_up(call);
    in_slot.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kSlot / best.seconds)));
    slots = std::max(slots, static_cast<double>(in_slot.back()) * best.cost);
  }
  // So many calls of each are cut into as many rounds as there are calls, but not more than a hundred.
  const std::uint64_t rounds =
      options.calls != 0 ? std::min(options.calls, kMostRoundsOfCalls)
                         : std::max(kLeastRounds, static_cast<std::uint64_t>(options.seconds / slots));
  const auto calls_in = [&](std::uint64_t round, std::size_t thing) {
    return options.calls == 0 ? in_slot[thing]
                              : options.calls * (round + 1) / rounds - options.calls * round / rounds;
  };
  Rounds result;
  result.calls.resize(calls.size());
  result.medians.resize(calls.size());
  std::vector<double> slot;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    throw_if_cancelled();
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const std::size_t i = (k + round) % calls.size();
      slot.clear();
      for (std::uint64_t n = calls_in(round, i); n > 0; --n) slot.push_back(calls[i]());
      result.medians[i].push_back(median(slot));
      for (const double seconds : slot) result.calls[i].add(seconds);
    }
    ++result.count;
    options.progress(static_cast<double>(round + 1) / static_cast<double>(rounds));
    if (options.deadline_seconds > 0 && time.seconds() >= options.deadline_seconds) break;
  }
  return result;
}

void CallTimes::add(double seconds) {
  total_ += seconds;
  least_ = count_ == 0 ? seconds : std::min(least_, seconds);
  if (count_++ % stride_ != 0) return;
  if (kept_.size() == kMostKept) {
    // Every other one goes, and from here on only every other one comes.
    for (std::size_t i = 0; i < kept_.size() / 2; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kept_.size() / 2);
    stride_ *= 2;
    if ((count_ - 1) % stride_ != 0) return;
  }
  kept_.push_back(seconds);
}

Latency CallTimes::latency() const {
  Latency latency;
  if (kept_.empty()) return latency;
  std::vector<double> sorted = kept_;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    const auto place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
    return sorted[static_cast<std::size_t>(std::max(place, 0.0))];
  };
  latency.calls = count_;
  latency.mean = total_ / static_cast<double>(count_);
  latency.p50 = at(0.50);
  latency.p90 = at(0.90);
  latency.p99 = at(0.99);
  latency.min = least_;
  for (int percent = 0; percent <= 100; ++percent) latency.quantiles.push_back(at(percent / 100.0));
  return latency;
}

SpeedUp speed_up(const std::vector<double>& base, const std::vector<double>& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(base.size(), other.size()); ++i) ratios.push_back(base[i] / other[i]);
  if (ratios.empty()) return {};
  SpeedUp result;
  result.ratio = median(ratios);
  // Each draw takes every round a Poisson(1) number of times.
  std::vector<std::vector<double>> draws(kReplicas);
  std::array<std::uint8_t, kReplicas> weights{};
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    draw_weights(i, weights);
    for (std::size_t k = 0; k < kReplicas; ++k) draws[k].insert(draws[k].end(), weights[k], ratios[i]);
  }
  std::vector<double> medians;
  for (std::vector<double>& draw : draws) {
    if (!draw.empty()) medians.push_back(median(std::move(draw)));
  }
  const Interval interval = middle(std::move(medians));
  result.low = interval.low;
  result.high = interval.high;
  result.rounds = ratios.size();
  const bool is_enough = result.rounds >= SpeedUp::kLeastRounds;  // an interval of fewer means nothing
  const bool is_apart = result.low > 1 || result.high < 1;
  result.is_measurable = is_enough && is_apart && std::fabs(result.ratio - 1) > kNoticeable;
  return result;
}

}  // namespace ounce::measure
