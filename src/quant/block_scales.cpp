#include "quant/block_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/half.h"
#include "quant/lanes.h"

namespace ounce::quant {
namespace {

using kernels::Affine;

// How much of the range the codes cover, at first.
constexpr std::array<float, 9> kFewCoverage4 = {1.0F, 1.06F, 0.94F, 0.88F, 0.82F, 0.76F, 0.7F, 0.63F, 0.55F};
constexpr std::array<float, 9> kFewCoverage2 = {1.0F, 1.2F, 0.88F, 0.77F, 0.67F, 0.58F, 0.5F, 0.42F, 0.34F};
constexpr std::array<float, 1> kFewCoverage8 = {1.0F};
constexpr int kRefinements = 2;
constexpr float kWhole = 12582912.0F;  // 1.5 · 2^23: what is added to it loses its fraction, to nearest even

std::span<const float> coverage_of(const LinearFormat& format) {
  const int steps = format.codes.hi - format.codes.lo;
  if (steps > 15) return kFewCoverage8;
  return steps > 3 ? std::span<const float>(kFewCoverage4) : std::span<const float>(kFewCoverage2);
}

float half_of(float value) {
  std::uint16_t half = 0;
  kernels::HalfStats stats;
  kernels::f32_to_f16(reinterpret_cast<const std::byte*>(&value), 1, &half, stats);
  float back = 0;
  kernels::f16_to_f32(reinterpret_cast<const std::byte*>(&half), 1, &back);
  return back;
}

// One block's search.
class Block {
 public:
  Block(const float* x, const float* h, std::size_t n, const LinearFormat& format)
      : x_(x), h_(h), n_(n), format_(format) {
    std::array<float, kLanes> lows{}, highs{};
    for (std::size_t at = 0; at < n; at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float value = x[at + lane];
        lows[lane] = value < lows[lane] ? value : lows[lane];
        highs[lane] = value > highs[lane] ? value : highs[lane];
      }
    }
    low_ = *std::min_element(lows.begin(), lows.end());
    high_ = *std::max_element(highs.begin(), highs.end());
  }

  Affine find(ScaleMethod method) {
    const float zero = format_.is_symmetric ? format_.zero : static_cast<float>(format_.codes.lo);
    if (low_ == 0 && high_ == 0) return {1, 1, zero};
    const bool is_searched = method == ScaleMethod::kMse;
    for (const float coverage : coverage_of(format_)) {
      if (format_.is_symmetric) {
        try_symmetric(coverage, is_searched);
      } else {
        try_asymmetric(coverage, is_searched);
      }
      if (!is_searched) break;
    }
    if (is_searched) refine();
    return best_;
  }

 private:
  void try_symmetric(float coverage, bool both_signs) {
    const float largest = high_ >= -low_ ? high_ : low_;
    const float below = format_.zero - static_cast<float>(format_.codes.lo);
    const float above = static_cast<float>(format_.codes.hi) - format_.zero;
    consider(-largest * coverage / below, format_.zero, both_signs);
    if (both_signs) consider(largest * coverage / above, format_.zero, true);
  }

  // Zero stays exact: padding and pruned weights are zeros.
  void try_asymmetric(float coverage, bool is_searched) {
    const auto lowest = static_cast<float>(format_.codes.lo), highest = static_cast<float>(format_.codes.hi);
    const float scale = (high_ - low_) * coverage / (highest - lowest);
    const float exact = lowest - low_ * coverage / scale;
    const float nearest = std::clamp(std::nearbyint(exact), lowest, highest);
    consider(scale, nearest, is_searched);
    if (!is_searched) return;
    const float other = std::clamp(exact < nearest ? nearest - 1 : nearest + 1, lowest, highest);
    consider(scale, other, true);
  }

  struct Sums {
    float product = 0, square = 0;  // Σ h x c, Σ h c²
    float gain() const { return square > 0 ? product / square * product : 0; }
  };

  Sums sums_of(float inverse, float zero) const {
    const float lowest = static_cast<float>(format_.codes.lo) - zero,
                highest = static_cast<float>(format_.codes.hi) - zero;
    std::array<float, kLanes> products{}, squares{};
    for (std::size_t at = 0; at < n_; at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float x = x_[at + lane];
        float scaled = x * inverse;
        scaled = scaled > lowest ? scaled : lowest;
        scaled = scaled < highest ? scaled : highest;
        const float code = (scaled + kWhole) - kWhole;
        const float weighted = code * h_[at + lane];
        products[lane] += weighted * x;
        squares[lane] += weighted * code;
      }
    }
    Sums sums;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums.product += products[lane];
      sums.square += squares[lane];
    }
    return sums;
  }

  // What 1 / scale does not overflow for, in the precision that the file has.
  Affine affine_of(float scale, float zero) const {
    const float rounded = format_.half_scales ? half_of(scale) : scale;
    const float least = format_.half_scales ? 0x1p-24F : 4 * std::numeric_limits<float>::min();
    return std::fabs(rounded) < least ? make_affine(std::copysign(least, scale), zero)
                                      : make_affine(rounded, zero);
  }

  void consider(float scale, float zero, bool is_searched) {
    const Affine candidate = affine_of(scale, zero);
    if (!is_searched) {
      best_ = candidate;
      return;
    }
    const Sums sums = sums_of(candidate.inverse, zero);
    // Sums of values that are near the largest number are none.
    if (const float gain = sums.gain(); gain > best_gain_ && std::isfinite(gain)) {
      best_gain_ = gain;
      best_ = affine_of(sums.product / sums.square, zero);
    } else if (best_gain_ < 0) {
      best_gain_ = 0;
      best_ = candidate;
    }
  }

  // The best scale for the codes gives other codes, and those another scale.
  void refine() {
    for (int i = 0; i < kRefinements; ++i) {
      const float before = best_.scale;
      const Sums sums = sums_of(best_.inverse, best_.zero);
      if (!(sums.gain() >= best_gain_ && std::isfinite(sums.gain())) || sums.square <= 0) return;
      best_gain_ = sums.gain();
      best_ = affine_of(sums.product / sums.square, best_.zero);
      if (best_.scale == before) return;
    }
  }

  const float* x_;
  const float* h_;
  std::size_t n_;
  const LinearFormat& format_;
  float low_ = 0, high_ = 0;  // with zero between them
  float best_gain_ = -1;
  Affine best_{};
};

}  // namespace

LinearFormat few_bits_format(unsigned bits, bool is_symmetric) {
  const int codes = 1 << bits;
  return {{0, codes - 1},
          kernels::CodeSign::kUnsigned,
          is_symmetric ? static_cast<float>(codes / 2) : 0.0F,
          is_symmetric,
          false};
}

void find_block_scales(const float* values, std::size_t rows, std::size_t blocks, std::size_t block,
                       const LinearFormat& format, const BlockSearch& search, Affine* affine) {
  const std::vector<float> even(search.energy == nullptr ? block : 0, 1.0F);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < blocks; ++b) {
      const float* x = values + (r * blocks + b) * block;
      const float* h = search.energy == nullptr ? even.data() : search.energy + b * block;
      *affine++ = Block(x, h, block, format).find(search.method);
    }
  }
}

}  // namespace ounce::quant
