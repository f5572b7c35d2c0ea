#include "quant/block_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/half.h"
#include "quant/block_panels.h"

namespace ounce::quant {
namespace {

using kernels::Affine;
using kernels::kPanelBlocks;
using kernels::PanelBest;
using kernels::PanelCandidate;
using PanelFloats = std::array<float, kPanelBlocks>;

// How much of the range the codes cover, at first.
constexpr std::array<float, 9> kFewCoverage4 = {1.0F, 1.06F, 0.94F, 0.88F, 0.82F, 0.76F, 0.7F, 0.63F, 0.55F};
constexpr std::array<float, 9> kFewCoverage2 = {1.0F, 1.2F, 0.88F, 0.77F, 0.67F, 0.58F, 0.5F, 0.42F, 0.34F};
constexpr std::array<float, 1> kFewCoverage8 = {1.0F};
constexpr std::size_t kMostCandidates = 2 * kFewCoverage4.size();
constexpr int kRefinements = 2;
// Ranges below it have an inverse that is no number.
constexpr float kLeastRange = 1024 * std::numeric_limits<float>::min();

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

// One panel's search.
class Panel {
 public:
  Panel(const float* x, const float* energy, std::size_t n, const LinearFormat& format)
      : x_(x), energy_(energy), n_(n), format_(format) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t b = 0; b < kPanelBlocks; ++b) {
        const float value = x[i * kPanelBlocks + b];
        low_[b] = value < low_[b] ? value : low_[b];
        high_[b] = value > high_[b] ? value : high_[b];
      }
    }
    begin();
  }

  void search() {
    std::array<PanelCandidate, kMostCandidates> candidates;
    std::size_t count = 0;
    for (const float coverage : coverage_of(format_)) {
      for (const bool is_other : {false, true}) {
        PanelCandidate& candidate = candidates[count++];
        for (std::size_t b = 0; b < kPanelBlocks; ++b) {
          candidate.inverse[b] = (is_other ? other_inverse_ : inverse_)[b] / coverage;
          candidate.lo[b] = lowest_ - (is_other ? other_zero_ : zero_)[b];
          candidate.hi[b] = candidate.lo[b] + (highest_ - lowest_);
        }
      }
    }
    PanelBest best{};
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      best.scale[b] = scale_[b];
      best.lo[b] = lowest_ - zero_[b];
    }
    kernels::improve_panel(x_, energy_, n_, candidates.data(), count, best);
    // The best scale for the codes gives other codes, and those another scale.
    for (int i = 0; i < kRefinements; ++i) {
      PanelCandidate candidate;
      for (std::size_t b = 0; b < kPanelBlocks; ++b) {
        candidate.inverse[b] = affine_of(best.scale[b], 0).inverse;
        candidate.lo[b] = best.lo[b];
        candidate.hi[b] = best.lo[b] + (highest_ - lowest_);
      }
      kernels::improve_panel(x_, energy_, n_, &candidate, 1, best);
    }
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      scale_[b] = best.scale[b];
      zero_[b] = lowest_ - best.lo[b];
    }
  }

  void finish(Affine* affine) const {
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      const bool is_empty = low_[b] == 0 && high_[b] == 0;
      affine[b] = is_empty ? Affine{1, 1, format_.is_symmetric ? format_.zero : lowest_}
                           : affine_of(scale_[b], zero_[b]);
    }
  }

 private:
  // The scale that reaches to the largest value, and the two inverses and zero points that are tried around
  // it.
  void begin() {
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      if (format_.is_symmetric) {
        const float far = high_[b] >= -low_[b] ? high_[b] : low_[b];
        const float largest = std::fabs(far) < kLeastRange ? std::copysign(kLeastRange, far) : far;
        inverse_[b] = (lowest_ - format_.zero) / largest;
        other_inverse_[b] = (highest_ - format_.zero) / largest;
        zero_[b] = other_zero_[b] = format_.zero;
        scale_[b] = far / (lowest_ - format_.zero);
        continue;
      }
      // Zero stays exact: padding and pruned weights are zeros.
      const float range = std::max(high_[b] / 2 - low_[b] / 2, kLeastRange);  // half of it: that is a number
      scale_[b] = range / ((highest_ - lowest_) / 2);
      const float exact = lowest_ - low_[b] / scale_[b];
      zero_[b] = std::clamp(std::nearbyint(exact), lowest_, highest_);
      other_zero_[b] = std::clamp(exact < zero_[b] ? zero_[b] - 1 : zero_[b] + 1, lowest_, highest_);
      inverse_[b] = other_inverse_[b] = 1 / scale_[b];
    }
  }

  // In the precision that the file has, and so that 1 / scale does not overflow.
  Affine affine_of(float scale, float zero) const {
    const float rounded = format_.half_scales ? half_of(scale) : scale;
    const float least = format_.half_scales ? 0x1p-24F : 4 * std::numeric_limits<float>::min();
    return std::fabs(rounded) < least ? make_affine(std::copysign(least, scale), zero)
                                      : make_affine(rounded, zero);
  }

  const float* x_;
  const float* energy_;
  std::size_t n_;
  const LinearFormat& format_;
  const float lowest_ = static_cast<float>(format_.codes.lo), highest_ = static_cast<float>(format_.codes.hi);
  PanelFloats low_{}, high_{};  // with zero between them
  PanelFloats inverse_{}, other_inverse_{}, other_zero_{};
  PanelFloats scale_{}, zero_{};  // the best so far
};

}  // namespace

LinearFormat nbits_format(unsigned bits, bool is_symmetric) {
  const int codes = 1 << bits;
  return {{0, codes - 1},
          kernels::CodeSign::kUnsigned,
          is_symmetric ? static_cast<float>(codes / 2) : 0.0F,
          is_symmetric,
          false};
}

void find_panel_scales(const float* x, const float* energy, std::size_t n, const LinearFormat& format,
                       ScaleMethod method, Affine* affine) {
  Panel panel(x, energy, n, format);
  if (method == ScaleMethod::kMse) panel.search();
  panel.finish(affine);
}

void find_block_scales(const float* values, std::size_t rows, std::size_t blocks, std::size_t block,
                       const LinearFormat& format, const BlockSearch& search, Affine* affine) {
  const std::size_t width = blocks * block;
  const BlockRows shape{rows, width, block, false, true};
  const FloatSource source({reinterpret_cast<const char*>(values), rows * width * sizeof(float)},
                           FloatType::kFloat32);
  for_each_panel(source, shape, 0, rows, [&](const PanelPlace& place, const float* x) {
    std::array<Affine, kPanelBlocks> found;
    const float* energy = search.energy == nullptr ? nullptr : search.energy + place.block * block;
    find_panel_scales(x, energy, block, format, search.method, found.data());
    for (std::size_t r = 0; r < place.rows; ++r) affine[(place.row + r) * blocks + place.block] = found[r];
  });
}

}  // namespace ounce::quant
