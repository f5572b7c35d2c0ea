#include "quant/linear.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include "kernels/affine.h"
#include "kernels/half.h"
#include "quant/layout.h"
#include "quant/weighted_scale.h"

namespace ounce::quant {
namespace {

using kernels::Affine;
using kernels::Range;

// Candidate scales, as shares of the range. 8-bit candidates do not clip, because clipping reduces the
// squared error but increases the error at the model's output, where the largest weights matter most;
// slightly larger steps may fit the values better by chance. For 4 bits clipping helps, and the best
// candidate is refined by small steps around it.
constexpr std::array<float, 8> kCoverage8 = {1.0F, 1.007F, 1.014F, 1.021F, 1.028F, 1.035F, 1.042F, 1.05F};
constexpr std::array<float, 8> kCoverage4 = {1.0F, 0.95F, 0.9F, 0.85F, 0.8F, 0.72F, 0.62F, 0.5F};
// In large groups random differences average out: the search with 8 bits gains 0.3 dB in groups of 128
// values, 0.1 dB in 512, and less than 0.05 dB from this size on.
constexpr std::size_t kSearch8Below = 1024;
constexpr std::array<float, 6> kAround4 = {-0.045F, -0.03F, -0.015F, 0.015F, 0.03F, 0.045F};

constexpr float kSmallestNormalHalf = 0x1p-14F;

// Rounds a scale to a 16-bit float: to nearest, ties to even. Below the normal range, where steps are coarse,
// it is rounded up, so that nothing is clipped.
float to_half_precision(float value) {
  if (value < kSmallestNormalHalf) return std::max(std::ceil(value * 0x1p24F), 1.0F) * 0x1p-24F;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0xfffU + ((bits >> 13U) & 1U)) & ~0x1fffU);
}

// Covers `coverage` of the group's range. Groups of zeros get scale 1; scales below the normal range become
// the smallest normal number.
Affine affine_for(const Range& range, const LinearFormat& format, float coverage) {
  const float smallest = std::numeric_limits<float>::min();
  const auto scale_of = [&](float wanted) {
    return format.half_scales ? to_half_precision(wanted) : std::max(wanted, smallest);
  };
  if (range.empty() || range.absmax() == 0) return {1, 1, format.zero};
  if (format.is_symmetric) {
    const float steps = static_cast<float>(format.codes.hi) - format.zero;
    return make_affine(scale_of(range.absmax() * coverage / steps), format.zero);
  }
  // Zero must be exact, because padding and pruned weights are zeros.
  const float low = std::min(range.min, 0.0F) * coverage, high = std::max(range.max, 0.0F) * coverage;
  const auto steps = static_cast<float>(format.codes.hi - format.codes.lo);
  const float scale = scale_of(high / steps - low / steps);
  const float zero = std::nearbyint(static_cast<float>(format.codes.lo) - low / scale);
  return make_affine(
      scale, std::clamp(zero, static_cast<float>(format.codes.lo), static_cast<float>(format.codes.hi)));
}

// The scale search for the groups of one tile.
class Search {
 public:
  Search(const FloatSource& source, const Layout& layout, const LinearFormat& format, const GroupTile& tile,
         const Range* ranges, Affine* best)
      : source_(source), layout_(layout), format_(format), tile_(tile), ranges_(ranges), best_(best) {}

  void run() {
    const bool is_fine = format_.codes.hi - format_.codes.lo > 16;
    const auto& coverage = is_fine ? kCoverage8 : kCoverage4;
    const std::size_t groups = tile_.channels;
    std::vector<float> candidates(coverage.size() * groups);
    for (std::size_t k = 0; k < coverage.size(); ++k)
      std::fill_n(candidates.begin() + static_cast<std::ptrdiff_t>(k * groups), groups, coverage[k]);
    best_error_.assign(groups, std::numeric_limits<double>::infinity());
    best_coverage_.assign(groups, 1.0F);
    try_all(candidates);
    if (!is_fine) {
      candidates.resize(kAround4.size() * groups);
      for (std::size_t k = 0; k < kAround4.size(); ++k) {
        for (std::size_t g = 0; g < groups; ++g) candidates[k * groups + g] = best_coverage_[g] + kAround4[k];
      }
      try_all(candidates);
    }
    for (std::size_t g = 0; g < groups; ++g) best_[g] = affine_for(ranges_[g], format_, best_coverage_[g]);
  }

 private:
  void try_all(const std::vector<float>& coverage) {
    const std::size_t groups = tile_.channels;
    affine_.resize(coverage.size());
    for (std::size_t i = 0; i < coverage.size(); ++i)
      affine_[i] = affine_for(ranges_[i % groups], format_, coverage[i]);
    error_.assign(coverage.size(), 0.0);
    add_errors(coverage.size() / groups);
    for (std::size_t i = 0; i < coverage.size(); ++i) {
      const std::size_t g = i % groups;
      if (error_[i] < best_error_[g]) {
        best_error_[g] = error_[i];
        best_coverage_[g] = coverage[i];
      }
    }
  }

  void add_errors(std::size_t count) {
    if (layout_.inner == 1) {
      const std::size_t first = tile_.panel * layout_.panel_size() + tile_.channel;
      const auto matrix = source_.matrix(first, layout_.outer, tile_.channels, layout_.channels, scratch_);
      kernels::squared_error_columns(matrix.data, layout_.outer, tile_.channels, matrix.stride,
                                     affine_.data(), count, format_.codes, error_.data());
      return;
    }
    for_each_run(source_, layout_, tile_, [&](std::size_t at, std::size_t runs, std::size_t length) {
      const std::byte* values = source_.values(at, runs * length, scratch_);
      kernels::squared_error_runs(values, runs, length, affine_.data(), count, format_.codes, error_.data());
    });
  }

  const FloatSource& source_;
  const Layout& layout_;
  const LinearFormat& format_;
  const GroupTile tile_;
  const Range* ranges_;
  Affine* best_;
  std::vector<float> scratch_, best_coverage_;
  std::vector<Affine> affine_;
  std::vector<double> error_, best_error_;
};

}  // namespace

bool fits_half_scales(const std::vector<Range>& ranges, const LinearFormat& format) {
  // The search changes a scale by less than a factor of two.
  return std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    const float scale = affine_for(range, format, 1.0F).scale;
    return scale >= kSmallestNormalHalf * 2 && scale <= kernels::kLargestHalf / 2;
  });
}

Affine make_affine(float scale, float zero) { return {scale, 1.0F / scale, zero}; }

// Ranges can be merged exactly in any order, so tiles may split groups anywhere.
std::vector<Range> find_ranges(const FloatSource& source, const Layout& layout, const ForEach& for_each,
                               const VisitTile& visit) {
  std::vector<Range> ranges(layout.groups());
  std::mutex mutex;
  for_each_tile(source, kTile, for_each, [&](std::size_t tile, std::size_t first, std::size_t count) {
    std::vector<float> scratch;
    std::vector<Range> found;
    const std::byte* values = source.values(first, count, scratch);
    for_each_segment(layout, first, count, [&](const Segment& segment) {
      const std::byte* x = values + (segment.first - first) * sizeof(float);
      const bool has_columns = segment.kind == Segment::Kind::kColumns;
      found.assign(has_columns ? segment.length : segment.rows, Range());
      if (has_columns) {
        kernels::range_of_columns(x, segment.rows, segment.length, segment.length, found.data());
      } else {
        kernels::range_of_runs(x, segment.rows, segment.length, found.data());
      }
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < found.size(); ++i) ranges[segment.group + i].merge(found[i]);
    });
    if (visit) visit(tile, first, count);
  });
  return ranges;
}

std::vector<Affine> find_affine(const FloatSource& source, const Layout& layout, const LinearFormat& format,
                                const std::vector<Range>& ranges, ScaleMethod method,
                                const ForEach& for_each) {
  std::vector<Affine> affine(layout.groups());
  const bool is_fine = format.codes.hi - format.codes.lo > 16;
  if (method == ScaleMethod::kAbsMax || (is_fine && layout.outer * layout.inner >= kSearch8Below)) {
    for (std::size_t g = 0; g < affine.size(); ++g) affine[g] = affine_for(ranges[g], format, 1.0F);
    return affine;
  }
  for_each_group_tile(source, layout, for_each, [&](const GroupTile& tile) {
    const std::size_t group = tile.panel * layout.channels + tile.channel;
    Search(source, layout, format, tile, ranges.data() + group, affine.data() + group).run();
  });
  return affine;
}

Affine refined_scale(const float* x, const float* energy, std::size_t n, const LinearFormat& format,
                     const Affine& start) {
  constexpr std::array<float, 12> kShares = {1.0F,  0.96F, 0.92F, 0.88F, 0.84F, 0.8F,
                                             0.76F, 0.72F, 0.67F, 0.62F, 0.56F, 0.5F};
  constexpr int kRounds = 2;
  if (!format.is_symmetric) return start;
  const auto* const bytes = reinterpret_cast<const std::byte*>(x);
  std::vector<std::uint8_t> codes(n);
  const auto code_of = [&](std::size_t i) {
    const int code = format.codes.lo < 0 ? static_cast<std::int8_t>(codes[i]) : static_cast<int>(codes[i]);
    return static_cast<double>(code) - static_cast<double>(format.zero);
  };
  Affine best = start;
  double least = std::numeric_limits<double>::infinity();
  float largest = 0;
  // Returns the scale that fits the quantized values of `affine` best; 0 if they are all zero.
  const auto consider = [&](const Affine& affine) {
    kernels::quantize_run(bytes, n, affine, format.codes, codes.data());
    double error = 0, products = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double h = static_cast<double>(energy[i]), value = static_cast<double>(x[i]), code = code_of(i);
      const double difference = value - code * static_cast<double>(affine.scale);
      error += h * difference * difference;
      products += h * value * code;
      squares += h * code * code;
    }
    if (error < least) {
      least = error;
      best = affine;
    }
    return squares > 0 ? static_cast<float>(products / squares) : 0.0F;
  };
  consider(start);
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
  if (!(largest > 0)) return start;
  for (const float share : kShares) {
    Affine affine = affine_for({-largest, largest}, format, share);
    for (int round = 0; round < kRounds; ++round) {
      const float fitted = consider(affine);
      if (!(fitted > 0) || !std::isfinite(fitted)) break;
      affine = make_affine(format.half_scales ? to_half_precision(fitted) : fitted, format.zero);
    }
    consider(affine);
  }
  return best;
}

void encode_linear(const FloatSource& source, const Layout& layout, const LinearFormat& format,
                   const std::vector<Affine>& affine, std::size_t kernel, std::size_t first,
                   std::size_t count, std::uint8_t* codes) {
  std::vector<float> scratch;
  const std::byte* values = source.values(first, count, scratch);
  for_each_segment(layout, first, count, [&](const Segment& segment) {
    const std::byte* x = values + (segment.first - first) * sizeof(float);
    std::uint8_t* out = codes + (segment.first - first);
    const Affine* by = affine.data() + segment.group;
    if (segment.kind == Segment::Kind::kColumns) {
      kernels::quantize_columns(x, segment.rows, segment.length, segment.length, by, format.codes, out);
    } else {
      kernels::quantize_runs(x, segment.rows, segment.length, by, format.codes, out);
      if (kernel != 0 && segment.length == layout.inner) {
        balance_runs(x, segment.rows, segment.length, kernel, by, format.codes, out);
      }
    }
  });
}

void decode_linear(const std::uint8_t* codes, const Layout& layout, const LinearFormat& format,
                   const std::vector<Affine>& affine, std::size_t first, std::size_t count, float* values) {
  for_each_segment(layout, first, count, [&](const Segment& segment) {
    const std::uint8_t* in = codes + (segment.first - first);
    float* out = values + (segment.first - first);
    const Affine* by = affine.data() + segment.group;
    if (segment.kind == Segment::Kind::kColumns) {
      kernels::decode_columns(in, segment.rows, segment.length, by, format.sign, out);
    } else {
      kernels::decode_runs(in, segment.rows, segment.length, by, format.sign, out);
    }
  });
}

namespace {

class Balancer {
 public:
  Balancer(std::size_t n, kernels::CodeRange range) : range_(range), missing_(n), candidates_(n) {}

  void run(const std::byte* x, std::size_t n, std::size_t kernel, const kernels::Affine& affine,
           std::uint8_t* codes) {
    codes_ = codes;
    const auto sign = range_.lo < 0 ? kernels::CodeSign::kSigned : kernels::CodeSign::kUnsigned;
    double residual = kernels::rounding_residuals(x, n, affine, sign, codes, missing_.data());
    if (kernel > 1 && kernel < n && n % kernel == 0) {
      sums_.resize(n / kernel);
      kernels::sums_of_groups(missing_.data(), sums_.size(), kernel, sums_.data());
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        if (std::abs(sums_[k]) > 0.5F) residual -= balance(k * kernel, kernel, static_cast<double>(sums_[k]));
      }
    }
    balance(0, n, residual);
  }

 private:
  int code(std::size_t i) const {
    return range_.lo < 0 ? static_cast<int>(static_cast<std::int8_t>(codes_[i]))
                         : static_cast<int>(codes_[i]);
  }

  void move(std::size_t i, int step) {
    codes_[i] = static_cast<std::uint8_t>(code(i) + step);
    missing_[i] -= static_cast<float>(step);
  }

  // The priority of moving value i by `step`: its error in that direction; zero at the ends of the range.
  float urge(std::size_t i, int step) const {
    const bool at_end = step > 0 ? code(i) >= range_.hi : code(i) <= range_.lo;
    return at_end ? 0 : missing_[i] * static_cast<float>(step);
  }

  // Returns the total change of the quantized values.
  double balance(std::size_t first, std::size_t n, double residual) {
    const int step = residual > 0 ? 1 : -1;
    const auto moves =
        static_cast<std::size_t>(std::min(std::nearbyint(std::abs(residual)), static_cast<double>(n)));
    if (moves == 0) return 0;
    const std::size_t moved =
        moves == 1 && n <= kFew ? move_strongest(first, n, step) : move_several(first, n, step, moves);
    return static_cast<double>(step) * static_cast<double>(moved);
  }

  std::size_t move_strongest(std::size_t first, std::size_t n, int step) {
    std::size_t best = first;
    float strongest = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      if (missing_[i] * static_cast<float>(step) > strongest && urge(i, step) > strongest) {
        strongest = urge(i, step);
        best = i;
      }
    }
    if (strongest <= 0) return 0;
    move(best, step);
    return 1;
  }

  // Residuals are about uniform between -1/2 and 1/2, so the `moves` largest priorities exceed a bound that
  // can be computed in advance; only values above it are sorted.
  std::size_t move_several(std::size_t first, std::size_t n, int step, std::size_t moves) {
    const float share = static_cast<float>(moves) / static_cast<float>(n);
    std::size_t found = 0;
    for (float bound = 0.5F - 2 * share;; bound = 0) {
      const float least = std::max(bound, 0.0F);
      found = kernels::find_beyond(missing_.data() + first, n, static_cast<float>(step), least,
                                   candidates_.data());
      if (found >= moves || least == 0) break;
    }
    const auto stronger = [&](std::uint32_t a, std::uint32_t b) {
      const float urge_a = urge(first + a, step), urge_b = urge(first + b, step);
      return urge_a != urge_b ? urge_a > urge_b : a < b;
    };
    const auto begin = candidates_.begin(), end = begin + static_cast<std::ptrdiff_t>(found);
    const std::size_t count = std::min(moves, found);
    std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(count), end, stronger);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (urge(first + candidates_[i], step) <= 0) continue;
      move(first + candidates_[i], step);
      ++moved;
    }
    return moved;
  }

  static constexpr std::size_t kFew = 64;

  kernels::CodeRange range_;
  std::vector<float> missing_, sums_;
  std::vector<std::uint32_t> candidates_;
  std::uint8_t* codes_ = nullptr;
};

}  // namespace

void balance_runs(const std::byte* x, std::size_t runs, std::size_t n, std::size_t kernel,
                  const kernels::Affine* affine, kernels::CodeRange range, std::uint8_t* codes) {
  Balancer balancer(n, range);
  for (std::size_t run = 0; run < runs; ++run) {
    balancer.run(x + run * n * sizeof(float), n, kernel, affine[run], codes + run * n);
  }
}

// Squares of very large and very small weights overflow or underflow binary32; those are added in binary64.
void add_error(const std::byte* x, const float* y, std::size_t n, kernels::ErrorNorms& norms) {
  kernels::ErrorNorms piece;
  kernels::error_norms(x, y, n, piece);
  const bool is_in_range = std::isfinite(piece.signal) && std::isfinite(piece.noise) && piece.signal > 1e-20;
  if (!is_in_range) {
    piece = {};
    for (std::size_t i = 0; i < n; ++i) {
      float value = 0;
      std::memcpy(&value, x + i * sizeof value, sizeof value);
      const bool is_same = value == y[i] || (std::isnan(value) && std::isnan(y[i]));
      if (is_same && !std::isfinite(value)) continue;  // an infinite mask value that is unchanged
      const double exact = static_cast<double>(value), error = exact - static_cast<double>(y[i]);
      piece.signal += exact * exact;
      piece.noise += error * error;
      const auto magnitude = static_cast<float>(std::fabs(error));
      if (!(magnitude <= piece.max_abs)) piece.max_abs = magnitude;
    }
  }
  norms.signal += piece.signal;
  norms.noise += piece.noise;
  if (!(piece.max_abs <= norms.max_abs)) norms.max_abs = piece.max_abs;
}

}  // namespace ounce::quant
