// The heart of everything quadratic here: sums of products of the columns of two matrices.
//
//   out[i * width + j] = Σ a[r * stride + i] * b[r * stride + j]      over the rows r, one after another
//
// In binary32 and never fused: each sum has its own order, so the result is the same on every CPU, however
// wide its vectors are. Sums of a few hundred rows keep their precision; add them up in double.
#pragma once

#include <cstddef>

namespace ounce::quant {

// `height` is a multiple of 4, `width` of 8.
void outer_products(const float* a, const float* b, std::size_t rows, std::size_t stride, std::size_t height,
                    std::size_t width, float* out);

}  // namespace ounce::quant
