// The inner loop of the search for scales of few bits, on sixteen blocks at once that stand side by side:
// value i of block b is x[i * kPanelBlocks + b]. For the codes that a candidate gives,
//
//   c = round_half_even(clamp(x * inverse, lo, hi))      product = Σ (h c) x      square = Σ (h c) c
//
// scale = product / square has the least error, and scale · product is what it takes off the error of nothing
// but zeros: its gain. All in binary32 and in that order, value after value, never fused, so that results are
// the same on every CPU. x is finite, and so are the inverses; lo and hi are within [-255, 255].
#pragma once

#include <cstddef>
#include <cstdint>

namespace ounce::kernels {

inline constexpr std::size_t kPanelBlocks = 16;

// What is tried on each block.
struct PanelCandidate {
  float inverse[kPanelBlocks], lo[kPanelBlocks], hi[kPanelBlocks];
};
// The best so far of each block; `lo` is that of the candidate.
struct PanelBest {
  float scale[kPanelBlocks], gain[kPanelBlocks], lo[kPanelBlocks];
};

// `h` has a weight for each of the n values of a block, the same for all blocks; null: 1. Of equal gains the
// first one counts, and none that is not finite.
void improve_panel(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                   std::size_t count, PanelBest& best);

// Sixteen rows of sixteen bytes become columns.
void turn_bytes(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to, std::size_t to_stride);

}  // namespace ounce::kernels
