// The error of dequantized weights, for values of any magnitude.
#pragma once

#include <cstddef>

#include "kernels/affine.h"

namespace ounce::quant {

// Adds n values: the original x (little-endian binary32 at any alignment) against y. Infinite values that are
// equal on both sides have no error.
void add_error(const std::byte* x, const float* y, std::size_t n, kernels::ErrorNorms& norms);

}  // namespace ounce::quant
