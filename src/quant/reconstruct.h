// AdaRound-style layer-wise reconstruction: rounds each weight up or down so that the layer's outputs on the
// calibration data change least.
//
// A channel's output for an input row x is w·x. Quantized weights with the errors e = w - scale * (code -
// zero) change it by e·x. Summed over the rows, the square of this error is
//
//   Σ (e·x)² = eᵀ H e      H = Σ x xᵀ  (calibration/gram.h)
//
// which is minimized over the two nearest quantized values of each weight. Unlike nearest rounding, H takes
// into account which inputs are large, which are correlated (so that errors can cancel), and their means (so
// that no channel's mean shifts). No labels or training are needed.
//
// The search starts from two points: the nearest values, and values chosen one after another so that each
// compensates for the errors of those before it (through the Cholesky factor of H, inputs with high energy
// first). Both are improved by changing single values while that helps, then the better one by changing
// pairs. For ten weights or fewer (depthwise kernels) all choices are tried. The objective is H plus a small
// share of its mean diagonal (`damping`), as if inputs had a little noise: with fewer rows than weights, H
// alone would ignore some errors that matter for other data. If a channel's result is not better than the
// nearest values by H itself, it is dropped, so no channel becomes worse.
//
// The result is the same for any number of threads and on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/affine.h"

namespace ounce::quant {

struct LayerToRound {
  std::span<const float> weights;  // one row of k for each channel
  std::size_t k = 0;
  std::span<const kernels::Affine> affine;  // one per channel, or one per `block` weights of its row
  std::size_t block = 0;                    // 0: the whole row; the last block of a row may be shorter
  kernels::CodeRange codes{};
  std::span<const std::vector<float>> gram;  // H, k × k, for each group of consecutive channels
  float damping = 0.01F;                     // see damping_for
  // Lookup tables instead of linear values, ascending, each for as many consecutive channels: a quantized
  // value is an index, and represents its entry times the scale of `affine`, which then has one entry per
  // channel.
  std::span<const std::vector<float>> tables{};

  std::size_t channels() const { return k == 0 ? 0 : weights.size() / k; }
};

// eᵀ H e, summed over the channels.
struct OutputError {
  double nearest = 0;   // with nearest rounding
  double achieved = 0;  // never larger than `nearest`
};

// A suitable damping for an H estimated from this number of rows: H is less reliable with fewer rows.
float damping_for(std::size_t k, std::uint64_t rows);

// Writes one quantized value per weight, as encode_linear does. Groups whose H is zero or not finite are
// rounded to nearest. Throws Error{kInternal} if the sizes do not match.
OutputError round_for_output(const LayerToRound& layer, const ForEach& for_each, std::uint8_t* codes);

}  // namespace ounce::quant
