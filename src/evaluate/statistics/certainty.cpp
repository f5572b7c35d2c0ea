#include "evaluate/statistics/certainty.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"

namespace ounce::evaluate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Tally times(const Tally& tally, double factor) { return {factor * tally.count, factor * tally.of}; }

// The smallest factor on the number of samples for which enough(factor) is true; infinite if a billion is not
// enough.
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

// The width of the bound in standard deviations, by Student's t distribution: with few samples the standard
// deviation is uncertain.
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
    // No sample changed the metric, but the next one may be the first: use the exact bound without events.
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

namespace {

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kSame = 1e-15;
  constexpr int kMostSteps = 10'000;
  double c = 1, d = 1 / std::max(std::fabs(1 - (a + b) * x / (a + 1)), kTiny), result = d;
  const auto step = [&](double numerator) {
    d = 1 + numerator * d;
    c = 1 + numerator / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    result *= d * c;
    return d * c;
  };
  for (int m = 1; m < kMostSteps; ++m) {
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    const double change = step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    if (std::fabs(change - 1) < kSame) break;
  }
  return result;
}

// Thread-safe: std::lgamma writes the sign to a global variable.
double log_gamma(double value) {
  int sign = 0;
  return ::lgamma_r(value, &sign);
}

// The regularized incomplete beta function: the probability of a beta distribution below x.
double beta_share(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(1 - x, b, a) / b;
}

// Solves function(x) = value for an increasing function on [low, high].
template <class Function>
double where(const Function& function, double value, double low, double high) {
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (function(middle) < value ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double binomial_upper(const Tally& events, double confidence) {
  if (events.of <= 0 || events.count >= events.of) return 1;
  return where([&](double x) { return beta_share(x, events.count + 1, events.of - events.count); },
               confidence, 0, 1);
}

double binomial_lower(const Tally& events, double confidence) {
  if (events.of <= 0 || events.count <= 0) return 0;
  return 1 - binomial_upper({events.of - events.count, events.of}, confidence);
}

double paired_upper(const Tally& lost, const Tally& won, double confidence) {
  if (lost.of <= 0 || won.of <= 0) return 1;
  const double lost_share = lost.count / lost.of, won_share = won.count / won.of;
  const double more_lost = binomial_upper(lost, confidence) - lost_share;
  const double less_won = won_share - binomial_lower(won, confidence);
  return std::min(1.0, lost_share - won_share + std::hypot(more_lost, less_won));
}

double normal_quantile(double share) {
  constexpr double kFar = 40;
  return where([](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }, share, -kFar, kFar);
}

double student_quantile(double share, double freedom) {
  if (freedom <= 0) return std::numeric_limits<double>::infinity();
  if (share < 0.5) return -student_quantile(1 - share, freedom);
  // t² / (freedom + t²) has a beta distribution.
  const double x = where([&](double y) { return beta_share(y, 0.5, 0.5 * freedom); }, 2 * share - 1, 0, 1);
  return std::sqrt(freedom * x / (1 - x));
}

void EventCount::add(double events, double answers) {
  events_ += events;
  squares_ += events * events;
  most_events_ = std::max(most_events_, events);
  answers_ += answers;
  most_answers_ = std::max(most_answers_, answers);
}

Tally EventCount::tally() const {
  const double most = std::max({most_events_, std::sqrt(most_answers_), 1.0});
  const double together = (squares_ + most * most) / (events_ + most);
  return {events_ / together, answers_ / together};
}

namespace {

// Maps a uniform 16-bit number to a Poisson(1) number.
const std::array<std::uint8_t, 65536>& poisson_table() {
  static const auto table = [] {
    std::array<std::uint8_t, 65536> made{};
    double mass = std::exp(-1.0), cumulative = mass;
    std::uint8_t value = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      while ((static_cast<double>(i) + 0.5) / 65536 > cumulative) {
        ++value;
        mass /= value;
        cumulative += mass;
      }
      made[i] = value;
    }
    return made;
  }();
  return table;
}

}  // namespace

void draw_weights(std::uint64_t sample, std::array<std::uint8_t, kReplicas>& weights) {
  const auto& table = poisson_table();
  Random random(sample * 0xd1342543de82ef95 + 1);
  static_assert(kReplicas % 4 == 0);
  for (std::size_t i = 0; i < kReplicas; i += 4) {
    const std::uint64_t bits = random.bits();
    for (std::size_t k = 0; k < 4; ++k) weights[i + k] = table[(bits >> (16 * k)) & 0xffff];
  }
}

Interval middle(std::vector<double> results) {
  std::erase_if(results, [](double value) { return std::isnan(value); });
  if (results.empty()) return {};
  std::sort(results.begin(), results.end());
  const auto at = [&](double share) {
    return results[static_cast<std::size_t>(std::lround(share * static_cast<double>(results.size() - 1)))];
  };
  return {at(0.025), at(0.975)};
}

void PairedMean::add(double reference, double candidate, double count) {
  draw_weights(samples_++, weights_);
  all_.reference += reference;
  all_.candidate += candidate;
  all_.count += count;
  for (std::size_t i = 0; i < kReplicas; ++i) {
    const double weight = weights_[i];
    replicas_[i].reference += weight * reference;
    replicas_[i].candidate += weight * candidate;
    replicas_[i].count += weight * count;
  }
}

Interval PairedMean::difference(const std::function<double(double)>& transform) const {
  std::vector<double> results;
  results.reserve(kReplicas);
  for (const Sums& sums : replicas_) {
    if (sums.count == 0) continue;
    results.push_back(transform(sums.reference / sums.count) - transform(sums.candidate / sums.count));
  }
  return middle(std::move(results));
}

namespace {

constexpr std::size_t kRedrawn = 200;  // bootstrap replicas

}  // namespace

void SampleSums::add(const std::vector<double>& reference, const std::vector<double>& candidate) {
  width_ = reference.size();
  ++samples_;
  reference_.insert(reference_.end(), reference.begin(), reference.end());
  candidate_.insert(candidate_.end(), candidate.begin(), candidate.end());
}

MetricResult SampleSums::result(std::string name, bool higher_is_better, MetricUnit unit,
                                const Figure& figure) const {
  // Row 0 has the original sums, in which every sample counts once.
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

}  // namespace ounce::evaluate
