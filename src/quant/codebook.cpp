#include "quant/codebook.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/half.h"

namespace ounce::quant {
namespace {

constexpr std::size_t kBins = 65536;
constexpr std::uint16_t kHalfSign = 0x8000, kHalfInfinity = 0x7c00;
constexpr std::size_t kFewestCoarse = 512, kMostCoarse = 4096;
constexpr std::size_t kBatch = 2048;
constexpr int kMaxRounds = 100;  // of Lloyd's iteration

using Point = CodebookPoint;

// Prefix sums over the points, for the squared error of any interval about its mean in constant time.
class Stretches {
 public:
  explicit Stretches(const std::vector<Point>& points) : sums_(points.size() + 1) {
    centre_ = points[points.size() / 2].value;  // centering reduces cancellation
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = points[i].value - centre_;
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
  double mean(std::size_t begin, std::size_t end) const {
    return centre_ + (sums_[end].first - sums_[begin].first) / (sums_[end].weight - sums_[begin].weight);
  }

 private:
  struct Sums {
    double weight = 0, first = 0, second = 0;
  };
  std::vector<Sums> sums_;
  double centre_ = 0;
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

// Merges the points into at most `most` groups of neighbors. The density of an optimal codebook follows the
// cube root of the density of the values, so groups have equal shares of the cube roots of weight × gap²,
// where the gap is the distance to the neighbors. Outliers remain alone.
std::vector<Point> grouped(const std::vector<Point>& points, std::size_t most) {
  if (points.size() <= most) return points;
  const auto share_of = [&](std::size_t i) {
    const double before = i == 0 ? points[0].value : points[i - 1].value;
    const double after = i + 1 == points.size() ? points[i].value : points[i + 1].value;
    const double gap = (after - before) / 2;
    return std::cbrt(points[i].weight * gap * gap);
  };
  std::vector<double> shares(points.size());
  double total = 0;
  for (std::size_t i = 0; i < points.size(); ++i) total += shares[i] = share_of(i);
  std::vector<Point> groups;
  std::size_t begin = 0;
  double filled = 0, left = total;
  for (std::size_t i = 0; i < points.size(); ++i) {
    filled += shares[i];
    const std::size_t groups_left = most - groups.size();
    const bool is_last = i + 1 == points.size();
    if (!is_last && (groups_left == 1 || filled < left / static_cast<double>(groups_left))) continue;
    groups.push_back(mean_of(points, begin, i + 1));
    left -= filled;
    filled = 0;
    begin = i + 1;
  }
  return groups;
}

std::size_t nearest_to_zero(const std::vector<double>& centres) {
  const auto smaller = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
  return static_cast<std::size_t>(std::min_element(centres.begin(), centres.end(), smaller) -
                                  centres.begin());
}

// The start of each cluster if every point belongs to the nearest center.
std::vector<std::size_t> begins_of(const std::vector<Point>& points, const std::vector<double>& centres) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t c = 1; c < centres.size(); ++c) {
    const double boundary = (centres[c - 1] + centres[c]) / 2;
    const auto at =
        std::upper_bound(points.begin() + static_cast<std::ptrdiff_t>(begins.back()), points.end(), boundary,
                         [](double value, const Point& point) { return value < point.value; });
    begins.push_back(static_cast<std::size_t>(at - points.begin()));
  }
  return begins;
}

// Lloyd's iteration over all points: assigns each point to its nearest center and moves each center to the
// mean of its points, until nothing changes.
void refine(const std::vector<Point>& points, const Stretches& stretches, std::vector<double>& centres,
            bool keep_zero) {
  const std::size_t zero = keep_zero ? nearest_to_zero(centres) : centres.size();
  if (keep_zero) centres[zero] = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<std::size_t> begins = begins_of(points, centres);
    begins.push_back(points.size());
    bool changed = false;
    for (std::size_t c = 0; c < centres.size(); ++c) {
      if (begins[c] == begins[c + 1] || c == zero) continue;
      const double mean =
          begins[c] + 1 == begins[c + 1] ? points[begins[c]].value : stretches.mean(begins[c], begins[c + 1]);
      changed = changed || mean != centres[c];
      centres[c] = mean;
    }
    if (!changed) return;
  }
}

// Moves all boundaries between clusters together: dynamic programming over kReach positions on either side of
// each boundary, first far apart, then next to each other. Finds better optima than Lloyd's iteration, which
// moves each boundary alone.
class Windows {
 public:
  Windows(const std::vector<Point>& points, const Stretches& stretches)
      : points_(points), stretches_(stretches) {}

  void run(std::vector<double>& centres) {
    begins_ = begins_of(points_, centres);
    begins_.push_back(points_.size());
    fill_empty_clusters(centres.size());
    constexpr int kMostPasses = 40;
    std::size_t narrowing = 1;  // divides the distance of the positions
    for (int pass = 0; pass < kMostPasses; ++pass) {
      const bool is_finest = place_windows(narrowing);
      if (!improve()) {
        if (is_finest) break;
        narrowing *= 4;
      }
    }
    for (std::size_t c = 0; c < centres.size(); ++c)
      centres[c] = mean_of(points_, begins_[c], begins_[c + 1]).value;
  }

 private:
  static constexpr std::size_t kReach = 8;

  // Replaces empty clusters by splits of those with the largest errors. There are more points than clusters.
  void fill_empty_clusters(std::size_t clusters) {
    begins_.erase(std::unique(begins_.begin(), begins_.end()), begins_.end());
    while (begins_.size() < clusters + 1) {
      std::size_t worst = 0;
      double most = -1;
      for (std::size_t c = 0; c + 1 < begins_.size(); ++c) {
        const double error = stretches_.error(begins_[c], begins_[c + 1]);
        if (begins_[c] + 1 == begins_[c + 1] || error <= most) continue;
        most = error;
        worst = c;
      }
      std::size_t split = begins_[worst] + 1;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t at = split; at < begins_[worst + 1]; ++at) {
        const double error = stretches_.error(begins_[worst], at) + stretches_.error(at, begins_[worst + 1]);
        if (error >= least) continue;
        least = error;
        split = at;
      }
      begins_.insert(begins_.begin() + static_cast<std::ptrdiff_t>(worst) + 1, split);
    }
  }

  // Returns true if all positions are next to each other.
  bool place_windows(std::size_t narrowing) {
    bool is_finest = true;
    windows_.assign(begins_.size(), {});
    for (std::size_t c = 0; c < begins_.size(); ++c) {
      if (c == 0 || c + 1 == begins_.size()) {
        windows_[c] = {begins_[c]};
        continue;
      }
      const std::size_t left = begins_[c] - begins_[c - 1], right = begins_[c + 1] - begins_[c];
      const std::size_t step = std::max<std::size_t>(1, std::min(left, right) / (kReach * narrowing));
      is_finest = is_finest && step == 1;
      for (std::size_t i = 0; i <= 2 * kReach; ++i) {
        const std::size_t at = begins_[c] + i * step;
        if (at >= kReach * step + c && at - kReach * step + (begins_.size() - 1 - c) <= points_.size())
          windows_[c].push_back(at - kReach * step);
      }
    }
    return is_finest;
  }

  // Returns true if a boundary has moved.
  bool improve() {
    std::vector<double> cost = {0}, next;
    std::vector<std::vector<std::uint8_t>> from(windows_.size());
    for (std::size_t c = 1; c < windows_.size(); ++c) {
      next.assign(windows_[c].size(), std::numeric_limits<double>::infinity());
      from[c].assign(windows_[c].size(), 0);
      for (std::size_t j = 0; j < windows_[c].size(); ++j) {
        for (std::size_t i = 0; i < windows_[c - 1].size() && windows_[c - 1][i] < windows_[c][j]; ++i) {
          const double error = cost[i] + stretches_.error(windows_[c - 1][i], windows_[c][j]);
          if (error >= next[j]) continue;
          next[j] = error;
          from[c][j] = static_cast<std::uint8_t>(i);
        }
      }
      cost.swap(next);
    }
    if (!(cost[0] < error_)) return false;
    error_ = cost[0];
    bool moved = false;
    std::size_t at = 0;
    for (std::size_t c = windows_.size() - 1; c > 0; --c) {
      at = from[c][at];
      moved = moved || begins_[c - 1] != windows_[c - 1][at];
      begins_[c - 1] = windows_[c - 1][at];
    }
    return moved;
  }

  const std::vector<Point>& points_;
  const Stretches& stretches_;
  std::vector<std::size_t> begins_;  // of the clusters, and the end of the last one
  std::vector<std::vector<std::size_t>> windows_;
  double error_ = std::numeric_limits<double>::infinity();
};

}  // namespace

CodebookFitter::CodebookFitter(float min, float max) : bins_(kBins) {
  const float largest = std::max(std::fabs(min), std::fabs(max));
  if (!std::isfinite(largest) || largest == 0) return;
  int exponent = 0;
  std::frexp(largest, &exponent);
  scale_ = std::ldexp(1.0, 15 - exponent);
}

void CodebookFitter::add(const std::byte* x, const float* weights, std::size_t n) {
  const auto scale = static_cast<float>(scale_);
  float scaled[kBatch], centres[kBatch];
  std::uint16_t halves[kBatch];
  kernels::HalfStats stats;
  for (std::size_t first = 0; first < n; first += kBatch) {
    const std::size_t count = std::min(kBatch, n - first);
    std::memcpy(scaled, x + first * sizeof(float), count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) scaled[i] *= scale;
    kernels::f32_to_f16(reinterpret_cast<const std::byte*>(scaled), count, halves, stats);
    kernels::f16_to_f32(reinterpret_cast<const std::byte*>(halves), count, centres);
    for (std::size_t i = 0; i < count; ++i) {
      const double weight = weights == nullptr ? 1.0 : static_cast<double>(weights[first + i]);
      if (scaled[i] == 0) {
        zeros_ += weight;
      } else if ((halves[i] & kHalfInfinity) != kHalfInfinity) {
        Bin& bin = bins_[halves[i]];
        bin.weight += weight;
        bin.residual += weight * static_cast<double>(scaled[i] - centres[i]);
      }
    }
  }
}

void CodebookFitter::add_halves(const std::byte* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint16_t half;
    std::memcpy(&half, x + i * sizeof half, sizeof half);
    bins_[half].weight += 1;
  }
}

void CodebookFitter::forget_zeros() {
  zeros_ = 0;
  for (const std::uint16_t half : {std::uint16_t{0}, kHalfSign}) {
    if (bins_[half].residual == 0) bins_[half] = {};
  }
}

void CodebookFitter::merge(const CodebookFitter& other) {
  zeros_ += other.zeros_;
  for (std::size_t i = 0; i < kBins; ++i) {
    bins_[i].weight += other.bins_[i].weight;
    bins_[i].residual += other.bins_[i].residual;
  }
}

std::vector<CodebookPoint> CodebookFitter::points() const {
  std::vector<Point> all;
  double zeros = zeros_;
  const auto add = [&](std::uint16_t half) {
    const Bin& bin = bins_[half];
    if (bin.weight == 0) return;
    float centre = 0;
    kernels::ref::f16_to_f32(reinterpret_cast<const std::byte*>(&half), 1, &centre);
    if (centre == 0 && bin.residual == 0) {
      zeros += bin.weight;
      return;
    }
    all.push_back({(static_cast<double>(centre) + bin.residual / bin.weight) / scale_, bin.weight});
  };
  for (std::uint32_t half = kHalfInfinity; half-- > 0;) add(static_cast<std::uint16_t>(kHalfSign | half));
  const std::size_t below = all.size();
  for (std::uint32_t half = 0; half < kHalfInfinity; ++half) add(static_cast<std::uint16_t>(half));
  if (zeros > 0) all.insert(all.begin() + static_cast<std::ptrdiff_t>(below), {0, zeros});
  return all;
}

namespace {

std::vector<float> fit_points(std::vector<Point> points, std::size_t entries) {
  double total = 0;
  for (const Point& point : points) total += point.weight;
  if (points.empty()) points.push_back({0, 1});
  const auto zero = std::ranges::find(points, 0.0, &Point::value);
  const bool keeps_zero =
      zero != points.end() && zero->weight * static_cast<double>(entries) > total && total > 0;
  std::vector<double> centres;
  if (points.size() <= entries) {
    for (const Point& point : points) centres.push_back(point.value);
  } else if (entries > 0) {
    const std::vector<Point> groups = grouped(points, std::clamp(16 * entries, kFewestCoarse, kMostCoarse));
    const std::vector<std::size_t> begins =
        OptimalClusters(groups, std::min(entries, groups.size())).begins();
    for (std::size_t c = 0; c < begins.size(); ++c) {
      const std::size_t end = c + 1 < begins.size() ? begins[c + 1] : groups.size();
      centres.push_back(mean_of(groups, begins[c], end).value);
    }
    const Stretches stretches(points);
    refine(points, stretches, centres, keeps_zero);
    if (!keeps_zero) Windows(points, stretches).run(centres);
  }
  std::vector<float> codebook;
  codebook.reserve(entries);
  for (const double centre : centres) codebook.push_back(static_cast<float>(centre));
  if (entries > 0) codebook.resize(entries, codebook.back());
  return codebook;
}

}  // namespace

std::vector<float> CodebookFitter::fit(std::size_t entries) const { return fit_points(points(), entries); }

std::vector<float> fit_codebook(std::vector<float> values, std::size_t entries) {
  std::sort(values.begin(), values.end());
  std::vector<Point> points;
  for (const float value : values) {
    if (points.empty() || points.back().value != static_cast<double>(value))
      points.push_back({static_cast<double>(value), 0});
    points.back().weight += 1;
  }
  return fit_points(std::move(points), entries);
}

double CodebookFitter::error(const std::vector<float>& codebook) const {
  const std::vector<double> centres(codebook.begin(), codebook.end());
  const std::vector<Point> all = points();
  const std::vector<std::size_t> begins = begins_of(all, centres);
  double error = 0;
  for (std::size_t c = 0; c < begins.size(); ++c) {
    const std::size_t end = c + 1 < begins.size() ? begins[c + 1] : all.size();
    for (std::size_t i = begins[c]; i < end; ++i)
      error += all[i].weight * (all[i].value - centres[c]) * (all[i].value - centres[c]);
  }
  return error;
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
