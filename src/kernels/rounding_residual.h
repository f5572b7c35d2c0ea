// Rounding residuals: what quantized values are short of their values, in steps: x * inverse - (code - zero).
// For rounding that considers several values at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/affine.h"

namespace ounce::kernels {

// Writes the residuals of n values and returns their sum, added in the order of summation.h.
double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual);

// Where values[i] * direction > bound, ascending; direction is 1 or -1. Returns how many; `indices` has room
// for n.
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices);

// sums[j] of `count` groups of n values that follow one another, each added up in order in binary32.
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums);

}  // namespace ounce::kernels
