// Loops over rows of floats in lanes of a fixed number, which a compiler turns into vectors of any width
// without changing a bit of the result. Rows are padded to whole lanes; what is beyond their end must be
// finite, and zero where it would count.
#pragma once

#include <array>
#include <cstddef>

#include "base/thread_pool.h"

namespace ounce::quant {

inline constexpr std::size_t kLanes = 16;

constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// to += factor * from; n is a multiple of kLanes.
inline void add_scaled(float* to, const float* from, float factor, std::size_t n) {
  for (std::size_t at = 0; at < n; at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) to[at + lane] += factor * from[at + lane];
  }
}

inline float dot(const float* a, const float* b, std::size_t n) {
  std::array<float, kLanes> sums{};
  for (std::size_t at = 0; at < n; at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[at + lane] * b[at + lane];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

// Sums of products of the columns of two matrices:
//
//   out[i * width + j] = Σ a[r * stride + i] * b[r * stride + j]      over the rows r, one after another
//
// In binary32 and never fused: each sum has its own order, so the result is the same on every CPU, however
// wide its vectors are. Sums of a few hundred rows keep their precision; add them up in double. `height` is a
// multiple of 4, `width` of 8.
void outer_products(const float* a, const float* b, std::size_t rows, std::size_t stride, std::size_t height,
                    std::size_t width, float* out);

// H = Uᵀ U with U upper triangular, for symmetric positive definite H, in binary32. Then eᵀ H e = ‖U e‖², a
// sum of squares each of which adds one more element of e, so that roundings can be chosen one after another
// (see reconstruct.h).
//
// `h` is n × n with n a multiple of kLanes; only its upper triangle is read, and U replaces all of it. A
// pivot that is not above `floor` (> 0) is a rounding error, and so is the rest of its row: the pivot becomes
// `floor` and the rest zeros.
void factorize(float* h, std::size_t n, float floor, const ForEach& for_each);

}  // namespace ounce::quant
