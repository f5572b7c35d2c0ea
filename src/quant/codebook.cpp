#include "quant/codebook.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ounce::quant {
namespace {

constexpr std::size_t kBins = 65536;
constexpr int kOffsetBits = 30;  // keeps sums below 2^64 for 2^34 values
constexpr double kOffsetUnits = 0x1p30;
constexpr std::size_t kCoarsePoints = 4096;
constexpr int kMaxRounds = 500;  // of Lloyd's iteration, which converges much earlier

struct Point {
  double value;
  double weight;
};

// Prefix sums over the points, for the squared error of any interval about its mean in constant time.
class Stretches {
 public:
  explicit Stretches(const std::vector<Point>& points) : sums_(points.size() + 1) {
    const double centre = points[points.size() / 2].value;  // centering reduces cancellation
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = points[i].value - centre;
      const double weighted = value * points[i].weight;
      sums_[i + 1] = {sums_[i].weight + points[i].weight, sums_[i].first + weighted,
                      sums_[i].second + weighted * value};
    }
  }

  double error(std::size_t begin, std::size_t end) const {
    const double weight = sums_[end].weight - sums_[begin].weight;
    const double first = sums_[end].first - sums_[begin].first;
    const double second = sums_[end].second - sums_[begin].second;
    return std::max(second - first * first / weight, 0.0);
  }

 private:
  struct Sums {
    double weight = 0, first = 0, second = 0;
  };
  std::vector<Sums> sums_;
};

// Optimal k-means of sorted points. cost_[j] is the least error of the first j points with the current number
// of clusters; each pass adds a cluster. The start of the last cluster never moves left as j grows, so a pass
// computes the middle first and then each half within the bounds that it gives.
class OptimalClusters {
 public:
  OptimalClusters(const std::vector<Point>& points, std::size_t clusters)
      : stretches_(points), cost_(points.size() + 1), next_(points.size() + 1), begins_(clusters) {
    const std::size_t n = points.size();
    for (std::size_t j = 1; j <= n; ++j) cost_[j] = stretches_.error(0, j);
    for (std::size_t c = 1; c < clusters; ++c) {
      begins_[c].resize(n + 1);
      settle(begins_[c], c + 1, n, c, n - 1);
      std::swap(cost_, next_);
    }
  }

  // The start of each cluster, ascending; the first is 0.
  std::vector<std::size_t> begins() const {
    std::vector<std::size_t> result(begins_.size());
    std::size_t end = cost_.size() - 1;
    for (std::size_t c = begins_.size() - 1; c > 0; --c) result[c] = end = begins_[c][end];
    return result;
  }

 private:
  void settle(std::vector<std::uint16_t>& begin, std::size_t first, std::size_t last, std::size_t low,
              std::size_t high) {
    if (first > last) return;
    const std::size_t middle = first + (last - first) / 2;
    double best = std::numeric_limits<double>::infinity();
    std::size_t best_begin = low;
    for (std::size_t b = low; b <= std::min(high, middle - 1); ++b) {
      const double error = cost_[b] + stretches_.error(b, middle);
      if (error < best) {
        best = error;
        best_begin = b;
      }
    }
    next_[middle] = best;
    begin[middle] = static_cast<std::uint16_t>(best_begin);
    settle(begin, first, middle - 1, low, best_begin);
    settle(begin, middle + 1, last, best_begin, high);
  }

  Stretches stretches_;
  std::vector<double> cost_, next_;
  std::vector<std::vector<std::uint16_t>> begins_;
};

Point mean_of(const std::vector<Point>& points, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return points[begin];
  double weight = 0;
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    weight += points[i].weight;
    sum += points[i].value * points[i].weight;
  }
  return {sum / weight, weight};
}

// Merges the points into at most kCoarsePoints groups of neighbors. The density of an optimal codebook
// follows the cube root of the density of the values, so groups have equal shares of the square roots of the
// weights.
std::vector<Point> grouped(const std::vector<Point>& points) {
  if (points.size() <= kCoarsePoints) return points;
  double total = 0;
  for (const Point& point : points) total += std::sqrt(point.weight);
  std::vector<Point> groups;
  double share = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    share += std::sqrt(points[i].weight);
    const double filled = share / total * static_cast<double>(kCoarsePoints);
    if (filled >= static_cast<double>(groups.size() + 1) || i + 1 == points.size()) {
      if (groups.size() + 1 == kCoarsePoints && i + 1 < points.size())
        continue;  // the last group takes all remaining points
      groups.push_back(mean_of(points, begin, i + 1));
      begin = i + 1;
    }
  }
  return groups;
}

std::size_t nearest_to_zero(const std::vector<double>& centres) {
  const auto smaller = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
  return static_cast<std::size_t>(std::min_element(centres.begin(), centres.end(), smaller) -
                                  centres.begin());
}

// Lloyd's iteration over all points: assigns each point to its nearest center and moves each center to the
// mean of its points, until nothing changes.
void refine(const std::vector<Point>& points, std::vector<double>& centres, bool keep_zero) {
  const std::size_t zero = keep_zero ? nearest_to_zero(centres) : centres.size();
  if (keep_zero) centres[zero] = 0;
  const auto is_below = [](const Point& point, double boundary) { return point.value <= boundary; };
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    auto begin = points.begin();
    for (std::size_t c = 0; c < centres.size(); ++c) {
      const auto end =
          c + 1 == centres.size()
              ? points.end()
              : std::lower_bound(begin, points.end(), (centres[c] + centres[c + 1]) / 2, is_below);
      if (begin != end && c != zero) {
        const double mean = mean_of(points, static_cast<std::size_t>(begin - points.begin()),
                                    static_cast<std::size_t>(end - points.begin()))
                                .value;
        changed = changed || mean != centres[c];
        centres[c] = mean;
      }
      begin = end;
    }
    if (!changed) return;
  }
}

}  // namespace

CodebookFitter::CodebookFitter(float min, float max) : bins_(kBins) {
  if (!std::isfinite(min) || !std::isfinite(max) || min >= max) return;  // one bin suffices
  min_ = static_cast<double>(min);
  bin_width_ = (static_cast<double>(max) - min_) / static_cast<double>(kBins);
  bins_per_unit_ = 1 / bin_width_;
}

void CodebookFitter::add(const std::byte* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    float value;
    std::memcpy(&value, x + i * sizeof value, sizeof value);
    if (!std::isfinite(value)) continue;
    if (value == 0) {
      ++zeros_;
      continue;
    }
    constexpr double kLast = static_cast<double>(kBins) - 0x1p-30;
    const double position = (static_cast<double>(value) - min_) * bins_per_unit_;
    const auto fixed = static_cast<std::uint64_t>(std::min(std::max(0.0, position), kLast) * kOffsetUnits);
    Bin& bin = bins_[fixed >> kOffsetBits];
    if (bin.count == 0) bin.first = value;
    bin.mixed |= bin.first != value;
    bin.offset += fixed & ((std::uint64_t{1} << kOffsetBits) - 1);
    ++bin.count;
  }
}

void CodebookFitter::merge(const CodebookFitter& other) {
  zeros_ += other.zeros_;
  for (std::size_t i = 0; i < kBins; ++i) {
    const Bin& from = other.bins_[i];
    if (from.count == 0) continue;
    Bin& to = bins_[i];
    if (to.count == 0) to.first = from.first;
    to.mixed |= from.mixed || to.first != from.first;
    to.offset += from.offset;
    to.count += from.count;
  }
}

double CodebookFitter::value_of(std::size_t bin) const {
  const Bin& b = bins_[bin];
  if (!b.mixed) return static_cast<double>(b.first);
  const double mean = static_cast<double>(b.offset) / static_cast<double>(b.count) / kOffsetUnits;
  return min_ + (static_cast<double>(bin) + mean) * bin_width_;
}

std::vector<float> CodebookFitter::fit(std::size_t entries) const {
  std::vector<Point> points;
  std::uint64_t total = zeros_;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (bins_[i].count == 0) continue;
    points.push_back({value_of(i), static_cast<double>(bins_[i].count)});
    total += bins_[i].count;
  }
  if (zeros_ > 0) points.push_back({0, static_cast<double>(zeros_)});
  std::ranges::sort(points, {}, &Point::value);  // the zeros were appended last
  if (points.empty()) points.push_back({0, 1});

  std::vector<double> centres;
  if (points.size() <= entries) {
    for (const Point& point : points) centres.push_back(point.value);
  } else if (entries > 0) {
    const std::vector<Point> groups = grouped(points);
    const std::vector<std::size_t> begins =
        OptimalClusters(groups, std::min(entries, groups.size())).begins();
    for (std::size_t c = 0; c < begins.size(); ++c) {
      const std::size_t end = c + 1 < begins.size() ? begins[c + 1] : groups.size();
      centres.push_back(mean_of(groups, begins[c], end).value);
    }
    refine(points, centres,
           static_cast<double>(zeros_) * static_cast<double>(entries) > static_cast<double>(total));
  }
  std::vector<float> codebook;
  codebook.reserve(entries);
  for (const double centre : centres) codebook.push_back(static_cast<float>(centre));
  if (entries > 0) codebook.resize(entries, codebook.back());
  return codebook;
}

std::vector<float> boundaries(const std::vector<float>& codebook) {
  std::vector<float> middles;
  for (std::size_t i = 1; i < codebook.size(); ++i) {
    middles.push_back(
        static_cast<float>((static_cast<double>(codebook[i - 1]) + static_cast<double>(codebook[i])) / 2));
  }
  return middles;
}

}  // namespace ounce::quant
