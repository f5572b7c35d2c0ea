// What codes lack of their values, in steps: x * inverse - (code - zero). For rounding that looks at more
// than one value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/affine.h"

namespace ounce::kernels {

// Of n values; returns the sum, in the order of summation.h.
double lack_of_run(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                   const std::uint8_t* codes, float* lack);

// Where values[i] * direction > bound, ascending; direction is 1 or -1. Returns how many; `indices` has room
// for n.
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices);

// sums[j] of `count` groups of n values that follow one another, each added up in order in binary32.
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums);

}  // namespace ounce::kernels
