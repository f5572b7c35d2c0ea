#include "calibration/calibrators.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace ounce::calibration {
namespace {

using Bins = std::vector<Histogram::Bin>;

constexpr std::size_t kLinearBins = 2048;  // bins over the whole range, for the entropy method
constexpr std::size_t kEntropyStep = 16;
constexpr double kTinyShare = 1e-9;  // of all values, that a quantized value counts as
constexpr int kClipSteps = 64;       // steps of the search for one end of the range
constexpr double kLeastClip = 0.02;  // narrowest range that is tried / whole range
constexpr int kRounds = 3;           // rounds of optimizing both ends in turn

ValueRange with_zero(double low, double high) { return {std::min(low, 0.0), std::max(high, 0.0)}; }

// The evenly spaced quantized values, which include zero: step, lowest and highest value.
struct Grid {
  double step = 0, low = 0, high = 0;

  Grid(const ValueRange& range, const CodeFormat& format) {
    const double most = std::max(-range.low, range.high);
    const double width = format.is_symmetric ? 2 * most : range.high - range.low;
    const int steps = format.levels - (format.is_symmetric ? 2 : 1);
    step = width / steps;
    if (step <= 0) return;
    low = std::round(range.low / step) * step;
    high = low + steps * step;
    if (format.is_symmetric) {
      high = static_cast<double>(steps / 2) * step;
      low = -high;
    }
  }
};

double cube(double x) { return x * x * x; }

// std::round() without a call of the math library, for numbers that fit into 62 bits.
double rounded(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  const double rest = x - whole;  // exact
  return std::abs(rest) < 0.5 ? whole : whole + std::copysign(1.0, x);
}

// The integral from 0 to x of the squared distance to the nearest quantized value: each step adds step³/12,
// and the rest is the cube of the distance / 3.
double rounding_up_to(double x, double step) {
  const double code = rounded(x / step);
  return code * cube(step) / 12 + cube(x - code * step) / 3;
}

// The mean squared error of values that are spread evenly over a bin: rounded inside the grid, clipped
// outside. Adjacent bins share an edge, whose integral is computed once.
class BinErrors {
 public:
  explicit BinErrors(const Grid& grid) : grid_(grid) {}

  double operator()(const Histogram::Bin& bin) {
    const double low = bin.low, high = bin.high, width = high - low;
    if (width <= 0) return 0;  // the bin of zero, which is exact
    const double from = std::clamp(low, grid_.low, grid_.high), to = std::clamp(high, grid_.low, grid_.high);
    const double before = from == edge_ ? up_to_edge_ : rounding_up_to(from, grid_.step);
    edge_ = to;
    up_to_edge_ = rounding_up_to(to, grid_.step);
    double total = up_to_edge_ - before;
    if (low < grid_.low) total += (cube(grid_.low - low) - cube(grid_.low - std::min(high, grid_.low))) / 3;
    if (high > grid_.high)
      total += (cube(high - grid_.high) - cube(std::max(low, grid_.high) - grid_.high)) / 3;
    return total / width;
  }

 private:
  const Grid& grid_;
  double edge_ = std::numeric_limits<double>::quiet_NaN(), up_to_edge_ = 0;
};

double error_of(const Bins& bins, const ValueRange& range, const CodeFormat& format) {
  const Grid grid(range, format);
  BinErrors error(grid);
  double total = 0, count = 0;
  for (const Histogram::Bin& bin : bins) {
    const auto here = static_cast<double>(bin.count);
    total += here * (grid.step > 0 ? error(bin) : bin.middle() * bin.middle());
    count += here;
  }
  return count == 0 ? 0 : total / count;
}

enum class End { kLow, kHigh };

// A lower bound of error_of() that only grows while this end moves toward zero: the error of the values that
// are clipped there, with half a step to spare for the position of the grid.
double clipped_error(const Bins& bins, const ValueRange& range, const CodeFormat& format, End end) {
  const double spare = Grid(range, format).step / 2;
  const auto of_bin = [](double from, double to, double limit, const Histogram::Bin& bin) {
    const double width = to - from;
    const double squares = cube(to - limit) - cube(std::max(from, limit) - limit);
    return width > 0 ? static_cast<double>(bin.count) * squares / (3 * width) : 0;
  };
  double total = 0;
  if (end == End::kHigh) {
    const double limit = range.high + spare;
    for (auto bin = bins.rbegin(); bin != bins.rend() && bin->high > limit; ++bin)
      total += of_bin(bin->low, bin->high, limit, *bin);
  } else {
    const double limit = -range.low + spare;
    for (auto bin = bins.begin(); bin != bins.end() && -static_cast<double>(bin->low) > limit; ++bin)
      total += of_bin(-static_cast<double>(bin->high), -static_cast<double>(bin->low), limit, *bin);
  }
  return total;
}

// Optimizes one end of the range with the other one fixed. Returns the best share of the original end.
double best_share(const Bins& bins, const CodeFormat& format, End end,
                  const std::function<ValueRange(double)>& range_for) {
  constexpr double kRounding = 1e-9;  // of the sums
  if (const ValueRange all = range_for(1); (end == End::kHigh ? all.high : all.low) == 0) return 1;
  double count = 0;
  for (const Histogram::Bin& bin : bins) count += static_cast<double>(bin.count);
  double best = 1, least = error_of(bins, range_for(1), format);
  for (int i = 1; i <= kClipSteps; ++i) {
    const double share = std::pow(kLeastClip, static_cast<double>(i) / kClipSteps);
    const ValueRange range = range_for(share);
    if (clipped_error(bins, range, format, end) > (1 + kRounding) * least * count) break;
    const double error = error_of(bins, range, format);
    if (error < least) {
      least = error;
      best = share;
    }
  }
  return best;
}

ValueRange least_squares(const Bins& bins, const ValueRange& all, const CodeFormat& format) {
  if (format.is_symmetric) {
    const End wider = -all.low > all.high ? End::kLow : End::kHigh;
    const double share = best_share(bins, format, wider, [&](double s) {
      return ValueRange{all.low * s, all.high * s};
    });
    return {all.low * share, all.high * share};
  }
  ValueRange range = all;
  for (int round = 0; round < kRounds; ++round) {
    const ValueRange before = range;
    range.high = all.high * best_share(bins, format, End::kHigh, [&](double s) {
                   return ValueRange{range.low, all.high * s};
                 });
    range.low = all.low * best_share(bins, format, End::kLow, [&](double s) {
                  return ValueRange{all.low * s, range.high};
                });
    if (range.low == before.low && range.high == before.high) break;  // so would the next rounds
  }
  return range;
}

// Converts a histogram to bins of equal width over the whole range. Spreads the values of a bin evenly.
std::vector<double> linear_histogram(const Bins& bins, const ValueRange& all) {
  std::vector<double> linear(kLinearBins, 0);
  const double width = (all.high - all.low) / kLinearBins;
  for (const Histogram::Bin& bin : bins) {
    const double from = std::clamp((bin.low - all.low) / width, 0.0, static_cast<double>(kLinearBins));
    const double to = std::clamp((bin.high - all.low) / width, 0.0, static_cast<double>(kLinearBins));
    const auto first = std::min(static_cast<std::size_t>(from), kLinearBins - 1);
    const auto last = std::min(static_cast<std::size_t>(to), kLinearBins - 1);
    const auto count = static_cast<double>(bin.count);
    if (first == last || to <= from) {
      linear[first] += count;
      continue;
    }
    for (std::size_t i = first; i <= last; ++i) {
      const double overlap =
          std::min(to, static_cast<double>(i + 1)) - std::max(from, static_cast<double>(i));
      linear[i] += count * std::max(overlap, 0.0) / (to - from);
    }
  }
  return linear;
}

// The relative entropy (KL divergence) between the values and their quantization to the bins [first, last).
// Values in bins outside are clipped to the ends.
double relative_entropy(const std::vector<double>& values, std::size_t first, std::size_t last,
                        std::size_t levels) {
  std::vector<double> clipped(values.begin() + static_cast<std::ptrdiff_t>(first),
                              values.begin() + static_cast<std::ptrdiff_t>(last));
  for (std::size_t i = 0; i < first; ++i) clipped.front() += values[i];
  for (std::size_t i = last; i < values.size(); ++i) clipped.back() += values[i];
  double entropy = 0, total = 0, total_coded = 0;
  std::vector<double> coded(clipped.size(), 0);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * clipped.size() / levels, end = (level + 1) * clipped.size() / levels;
    double mass = 0, filled = 0;
    for (std::size_t i = begin; i < end; ++i) {
      mass += values[first + i];
      filled += values[first + i] > 0 ? 1 : 0;
    }
    for (std::size_t i = begin; i < end; ++i) coded[i] = values[first + i] > 0 ? mass / filled : 0;
  }
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    total += clipped[i];
    total_coded += coded[i];
  }
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    const double p = clipped[i] / total,
                 q = std::max(total_coded == 0 ? 0 : coded[i] / total_coded, kTinyShare);
    if (p > 0) entropy += p * std::log(p / q);
  }
  return entropy;
}

// Estimates relative_entropy() of many windows from running sums, up to rounding: one logarithm for each
// quantized value instead of one for each bin.
class EntropyEstimate {
 public:
  EntropyEstimate(const std::vector<double>& values, std::size_t levels)
      : values_(values), levels_(levels), sums_(1, 0), entropies_(1, 0), filled_(1, 0) {
    for (const double value : values) {
      sums_.push_back(sums_.back() + value);
      entropies_.push_back(entropies_.back() + (value > 0 ? value * std::log(value) : 0));
      filled_.push_back(filled_.back() + (value > 0 ? 1 : 0));
    }
  }

  double operator()(std::size_t first, std::size_t last) const {
    const double total = sums_.back(), inside = sums_[last] - sums_[first];
    if (total <= 0) return 0;
    const std::size_t count = last - first;
    double entropy = entropies_[last - 1] - entropies_[first + 1];
    entropy -= (sums_[last - 1] - sums_[first + 1]) * std::log(total);
    for (std::size_t level = 0; level < levels_; ++level) {
      const std::size_t begin = first + level * count / levels_, end = first + (level + 1) * count / levels_;
      const double mass = sums_[end] - sums_[begin], filled = filled_[end] - filled_[begin];
      const double log = std::log(std::max(filled > 0 ? mass / filled / inside : 0, kTinyShare));
      entropy -= (sums_[std::min(end, last - 1)] - sums_[std::max(begin, first + 1)]) * log;
      if (begin == first) entropy += of_end(first, sums_[first + 1], log);
      if (end == last) entropy += of_end(last - 1, total - sums_[last - 1], log);
    }
    return entropy / total;
  }

 private:
  // An end, with the values that are clipped to it.
  double of_end(std::size_t bin, double values, double log) const {
    if (values <= 0) return 0;
    return values * (std::log(values / sums_.back()) - (values_[bin] > 0 ? log : std::log(kTinyShare)));
  }

  const std::vector<double>& values_;
  const std::size_t levels_;
  std::vector<double> sums_, entropies_, filled_;  // of the first n bins
};

ValueRange least_entropy(const Bins& bins, const ValueRange& all, const CodeFormat& format) {
  if (all.high <= all.low) return all;
  const std::vector<double> linear = linear_histogram(bins, all);
  const auto levels = static_cast<std::size_t>(format.levels);
  const auto zero = static_cast<std::size_t>(
      std::clamp(-all.low / (all.high - all.low) * kLinearBins, 0.0, static_cast<double>(kLinearBins)));
  double least = std::numeric_limits<double>::infinity();
  std::pair<std::size_t, std::size_t> best{0, kLinearBins};
  // Move both ends toward zero together, each within its side of the range.
  const EntropyEstimate estimate(linear, levels);
  constexpr double kRounding = 1e-9;
  const std::size_t longest = std::max(zero, kLinearBins - zero);
  for (std::size_t reach = longest; reach >= levels / 2; reach -= kEntropyStep) {
    const std::size_t first = zero > reach ? zero - reach : 0, last = std::min(kLinearBins, zero + reach);
    if (last - first < levels) break;
    const bool may_be_least = !(estimate(first, last) > least + kRounding);
    const double entropy = may_be_least ? relative_entropy(linear, first, last, levels) : least;
    if (entropy < least) {
      least = entropy;
      best = {first, last};
    }
    if (reach < kEntropyStep) break;
  }
  const double width = (all.high - all.low) / kLinearBins;
  return with_zero(all.low + static_cast<double>(best.first) * width,
                   all.low + static_cast<double>(best.second) * width);
}

ValueRange choose(const Statistics& statistics, const Bins& bins, CalibrationMethod method,
                  const CodeFormat& format, double percentile) {
  const ValueRange all = with_zero(statistics.minimum(), statistics.maximum());
  switch (method) {
    case CalibrationMethod::kMean: return with_zero(statistics.mean_minimum(), statistics.mean_maximum());
    case CalibrationMethod::kPercentile: {
      const double share = percentile / 100;
      const double low = std::max<double>(statistics.histogram().quantile(1 - share), all.low);
      return with_zero(low, std::min<double>(statistics.histogram().quantile(share), all.high));
    }
    case CalibrationMethod::kEntropy: return least_entropy(bins, all, format);
    case CalibrationMethod::kMse: return least_squares(bins, all, format);
    case CalibrationMethod::kAuto:
    case CalibrationMethod::kMinMax: break;
  }
  return all;
}

}  // namespace

ValueRange choose_range(const Statistics& statistics, CalibrationMethod method, const CodeFormat& format,
                        double percentile) {
  if (method == CalibrationMethod::kAuto) return choose_best(statistics, format).range;
  return choose(statistics, statistics.histogram().bins(), method, format, percentile);
}

Choice choose_best(const Statistics& statistics, const CodeFormat& format) {
  const Bins bins = statistics.histogram().bins();
  Choice best{choose(statistics, bins, CalibrationMethod::kMinMax, format, kPercentile),
              CalibrationMethod::kMinMax};
  double least = error_of(bins, best.range, format);
  for (const CalibrationMethod method :
       {CalibrationMethod::kPercentile, CalibrationMethod::kEntropy, CalibrationMethod::kMse}) {
    const ValueRange range = choose(statistics, bins, method, format, kPercentile);
    const double error = error_of(bins, range, format);
    if (error >= least) continue;
    least = error;
    best = {range, method};
  }
  return best;
}

double predicted_error(const Statistics& statistics, const ValueRange& range, const CodeFormat& format) {
  return error_of(statistics.histogram().bins(), range, format);
}

double mean_square(const Statistics& statistics) {
  double total = 0, count = 0;
  for (const Histogram::Bin& bin : statistics.histogram().bins()) {
    const double width = static_cast<double>(bin.high) - bin.low;
    total += static_cast<double>(bin.count) * (bin.middle() * bin.middle() + width * width / 12);
    count += static_cast<double>(bin.count);
  }
  return count == 0 ? 0 : total / count;
}

RangeChoice choose_and_predict(const Statistics& statistics, CalibrationMethod method,
                               const CodeFormat& format, double percentile) {
  RangeChoice choice;
  if (method == CalibrationMethod::kAuto) {
    const Choice best = choose_best(statistics, format);
    choice.range = best.range;
    choice.method = best.method;
  } else {
    choice.range = choose_range(statistics, method, format, percentile);
    choice.method = method;
  }
  choice.noise = predicted_error(statistics, choice.range, format);
  choice.signal = mean_square(statistics);
  return choice;
}

RangeChoice RangeMemo::choose(const Statistics& statistics, CalibrationMethod method,
                              const CodeFormat& format, double percentile) {
  const Key key{&statistics,   statistics.samples(), statistics.count(), method,
                format.levels, format.is_symmetric,  percentile};
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = choices_.find(key); found != choices_.end()) return found->second;
  }
  const RangeChoice choice = choose_and_predict(statistics, method, format, percentile);
  const std::scoped_lock lock(mutex_);
  choices_.emplace(key, choice);
  return choice;
}

}  // namespace ounce::calibration
