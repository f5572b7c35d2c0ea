// The order in which the kernels add. Floating-point sums depend on it, so it is part of every contract: the
// same data gives the same bits on every CPU.
//
// A run is cut into blocks of kRunBlock elements. In a block, element i is added in binary32 to partial sum
// i % kSumLanes; the partial sums are then halved (lane i += lane i + 8, then + 4, + 2, + 1) and what remains
// is added to the caller's double. A column is cut into blocks of kRowBlock rows; a block is added up row by
// row in binary32 and then added to the caller's double.
//
// So a caller may split a run at any multiple of kRunBlock, and a column at any multiple of kRowBlock, and
// get the same result. Squares are taken in binary32: values beyond 1e19 overflow to infinity, below 1e-23
// they vanish.
#pragma once

#include <cstddef>

namespace ounce::kernels {

inline constexpr std::size_t kSumLanes = 16;
inline constexpr std::size_t kRunBlock = 1024;
inline constexpr std::size_t kRowBlock = 256;

}  // namespace ounce::kernels
