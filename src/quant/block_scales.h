// Scales and zero points of blocks, for codes of few bits.
//
// Codes of 4 bits reach from -8 to 7: a block's largest value becomes -8 if its scale has the other sign, so
// that no code is lost, and both signs are tried. What is made small is Σ h (x - x')² over the block, with
// h the energy of the input that each value is multiplied with (1 without data): for the codes that a
// candidate scale gives, the best scale is
//
//   scale = Σ h x c / Σ h c²      and the error is      Σ h x² - (Σ h x c)² / Σ h c²
//
// which is then rounded with again. Results are the same on every CPU.
#pragma once

#include <cstddef>

#include "kernels/affine.h"
#include "kernels/panel_search.h"
#include "quant/linear.h"

namespace ounce::quant {

// Codes of so many bits (2, 4 or 8) as few-bit kernels take them: unsigned, zero in the middle.
LinearFormat nbits_format(unsigned bits, bool is_symmetric);

// A panel is as many blocks of n values as kernels/panel_search.h takes, side by side. `energy` is null where
// all values count alike. Writes an Affine for each block.
void find_panel_scales(const float* x, const float* energy, std::size_t n, const LinearFormat& format,
                       ScaleMethod method, kernels::Affine* affine);

struct BlockSearch {
  ScaleMethod method = ScaleMethod::kMse;
  const float* energy = nullptr;  // of each column, as many as a row has values; null: all alike
};

// `values` are `rows` rows of `blocks` blocks of `block` values. Writes an Affine a block.
void find_block_scales(const float* values, std::size_t rows, std::size_t blocks, std::size_t block,
                       const LinearFormat& format, const BlockSearch& search, kernels::Affine* affine);

}  // namespace ounce::quant
