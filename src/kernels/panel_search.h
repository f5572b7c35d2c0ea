// The inner loop of the scale search for low-bit weights, on sixteen interleaved blocks at once: value i of
// block b is x[i * kPanelBlocks + b]. For the quantized values c of a candidate,
//
//   c = round_half_even(clamp(x * inverse, lo, hi))      product = Σ (h c) x      square = Σ (h c) c
//
// scale = product / square has the least error, and scale · product is its gain: the reduction of the error
// compared with all zeros. Computed in binary32 in this order, value after value, without fused operations,
// so results are the same on every CPU. x and the inverses must be finite; lo and hi must be within [-255,
// 255].
#pragma once

#include <cstddef>
#include <cstdint>

namespace ounce::kernels {

inline constexpr std::size_t kPanelBlocks = 16;

// One candidate for each block.
struct PanelCandidate {
  float inverse[kPanelBlocks], lo[kPanelBlocks], hi[kPanelBlocks];
};
// The best result so far for each block; `lo` is that of the candidate.
struct PanelBest {
  float scale[kPanelBlocks], gain[kPanelBlocks], lo[kPanelBlocks];
};

// `h` has a weight for each of the n values of a block, the same for all blocks; null: 1. The first of equal
// gains wins; gains that are not finite are ignored.
void improve_panel(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                   std::size_t count, PanelBest& best);

// Transposes sixteen rows of sixteen bytes.
void turn_bytes(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to, std::size_t to_stride);

}  // namespace ounce::kernels
