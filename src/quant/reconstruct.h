// Rounding that keeps outputs (AdaRound-style layer-wise reconstruction): each weight is rounded up or down
// so that the layer's outputs on the calibration data change least.
//
// A channel's output for an input row x is w·x, so codes that leave the weights with the errors
// e = w - scale * (code - zero) put an error of e·x on it. Summed over the rows its square is
//
//   Σ (e·x)² = eᵀ H e      H = Σ x xᵀ  (calibration/gram.h)
//
// which is minimized, with every code one of the two next to its weight. Unlike nearest rounding, H has which
// inputs are large, which move together (so that errors can cancel), and their means (so that no channel's
// mean shifts). No labels and no training.
//
// There are two starts: the nearest codes, and codes chosen one after another, each of which compensates for
// the errors of those before it (through the Cholesky factor of H, inputs of much energy first). Both are
// improved by changing single codes while that helps, then the better one by changing pairs. For ten weights
// or fewer (depthwise kernels) all choices are tried. The objective is H plus a small share of its mean
// diagonal
// (`damping`), as if inputs had a little noise: with fewer rows than weights, H alone would call some errors
// free that other data will not. A result that is not better than the nearest codes by H itself is dropped,
// so that no channel becomes worse.
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
  std::span<const float> weights;  // a row of k for each channel
  std::size_t k = 0;
  std::span<const kernels::Affine> affine;  // one for each channel, or for each `block` weights of its row
  std::size_t block = 0;                    // 0: the whole row; the last block of a row may be shorter
  kernels::CodeRange codes{};
  std::span<const std::vector<float>> gram;  // H, k × k, for each group of channels, which follow one another
  float damping = 0.01F;                     // see damping_for

  std::size_t channels() const { return k == 0 ? 0 : weights.size() / k; }
};

// eᵀ H e, summed over the channels.
struct OutputError {
  double nearest = 0;   // as it would be with the nearest codes
  double achieved = 0;  // never more than that
};

// The damping that suits an H of that many rows: the fewer rows, the less reliable is H.
float damping_for(std::size_t k, std::uint64_t rows);

// Writes a code a weight, as encode_linear does. A group whose H is zero, or not finite, gets the nearest
// codes. Throws Error{kInternal} when the sizes do not fit together.
OutputError round_for_output(const LayerToRound& layer, const ForEach& for_each, std::uint8_t* codes);

}  // namespace ounce::quant
