#include "measure/certainty.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/binomial_bound.h"

namespace ounce::measure {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Tally times(const Tally& tally, double factor) { return {factor * tally.count, factor * tally.of}; }

// How many times the samples it takes until enough(times) is true; infinite when a billion times is not.
template <class Enough>
double times_until(const Enough& enough) {
  constexpr double kMost = 1e9, kClose = 1e-6;
  double low = 1, high = 2;
  while (!enough(high)) {
    low = high;
    high *= 2;
    if (high > kMost) return kNever;
  }
  while (high - low > kClose * high) {
    const double middle = 0.5 * (low + high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

// Few samples do not know their own deviation well.
double Certainty::deviations() const {
  return independent_ < 2
             ? kNever
             : student_quantile(confidence_, independent_ - 1) * std::sqrt(independent_ / (independent_ - 1));
}

std::uint64_t Certainty::needed(double factor) const {
  const double count = std::ceil(factor * samples_ - 1e-3);
  return count < 1e15 ? static_cast<std::uint64_t>(count) : 0;
}

Bound Certainty::at_most(double value, double deviation, double limit) const {
  Bound bound;
  if (independent_ < 2) {
    bound.value = kNever;
    bound.is_short = true;
    return bound;
  }
  const double room = deviation == 0 ? 0 : deviations() * deviation;
  bound.value = value + room;
  bound.holds = bound.value <= limit;
  if (!bound.holds && value < limit) bound.needed = needed(std::pow(room / (limit - value), 2));
  return bound;
}

Bound Certainty::agreement(const OutputComparison& output, double limit) const {
  const Tally& others = output.other_answers;
  const auto lowest = [&](const Tally& tally) { return 1 - binomial_upper(tally, confidence_); };
  Bound bound;
  bound.value = lowest(others);
  bound.holds = bound.value >= limit;
  if (bound.holds) return bound;
  bound.is_short = lowest({0, others.of}) < limit;
  if (others.of > 0 && 1 - others.count / others.of > limit)
    bound.needed = needed(times_until([&](double n) { return lowest(times(others, n)) >= limit; }));
  return bound;
}

Bound Certainty::flips(const OutputComparison& output, double limit) const {
  const Tally& others = output.other_decisions;
  const auto highest = [&](const Tally& tally) { return binomial_upper(tally, confidence_); };
  Bound bound;
  bound.value = highest(others);
  bound.holds = bound.value <= limit;
  if (bound.holds) return bound;
  bound.is_short = highest({0, others.of}) > limit;
  if (others.of > 0 && others.count / others.of < limit)
    bound.needed = needed(times_until([&](double n) { return highest(times(others, n)) <= limit; }));
  return bound;
}

Bound Certainty::sqnr(double decibels, double deviation, double limit) const {
  if (std::isinf(decibels) && decibels > 0) return {decibels, true};
  Bound bound = at_most(-decibels, deviation, -limit);
  bound.value = -bound.value;
  return bound;
}

Bound Certainty::sqnr(const OutputComparison& output, double limit) const {
  return sqnr(output.sqnr_db, output.sqnr_deviation_db, limit);
}

Bound Certainty::sqnr(const OutputSlice& slice, double limit) const {
  return sqnr(slice.sqnr_db, slice.sqnr_deviation_db, limit);
}

Bound Certainty::mean_square(const OutputComparison& output, double limit) const {
  return at_most(output.mse, output.mse_deviation, limit);
}

Bound Certainty::mean_difference(const OutputComparison& output, double limit) const {
  return at_most(output.mean_abs_diff, output.mean_abs_deviation, limit);
}

Bound Certainty::drop(const MetricResult& metric, double limit) const {
  constexpr double kDeviationsOf95 = 1.959964;
  const double deviation = (metric.drop_high - metric.drop) / kDeviationsOf95;
  if (metric.lost && metric.won) {
    const Tally &lost = *metric.lost, &won = *metric.won;
    const auto highest = [&](double n) { return paired_upper(times(lost, n), times(won, n), confidence_); };
    Bound bound;
    bound.value = highest(1);
    bound.holds = bound.value <= limit;
    if (bound.holds) return bound;
    bound.is_short = binomial_upper({0, lost.of}, confidence_) > limit;
    if (metric.drop < limit)
      bound.needed = needed(times_until([&](double n) { return highest(n) <= limit; }));
    return bound;
  }
  if (metric.unit == MetricUnit::kShare && !(deviation > 0)) {
    // A share that no sample changed: the next one may be the first.
    const auto highest = [&](double n) { return metric.drop + binomial_upper({0, n}, confidence_); };
    Bound bound;
    bound.value = highest(independent_);
    bound.holds = bound.value <= limit;
    if (bound.holds) return bound;
    bound.is_short = true;
    if (metric.drop < limit)
      bound.needed = needed(times_until([&](double n) { return highest(n * independent_) <= limit; }));
    return bound;
  }
  return at_most(metric.drop, std::max(deviation, 0.0), limit);
}

}  // namespace ounce::measure
