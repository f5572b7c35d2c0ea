// Loops over rows of floats with a fixed number of lanes, which compilers vectorize for any vector width
// without changing the result. Rows are padded to whole lanes. The padding must be finite, and zero where it
// affects sums.
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
// Computed in binary32 without fused operations: the order of each sum is fixed, so the result is the same on
// every CPU, whatever its vector width. Sums over a few hundred rows are precise enough; add them up in
// double. `height` is a multiple of 4, `width` of 8.
void outer_products(const float* a, const float* b, std::size_t rows, std::size_t stride, std::size_t height,
                    std::size_t width, float* out);

// Cholesky factorization H = Uᵀ U with U upper triangular, for symmetric positive definite H, in binary32.
// Then eᵀ H e = ‖U e‖², a sum of squares of which each adds one more element of e, so that rounding decisions
// can be made one after another (see reconstruct.h).
//
// `h` is n × n with n a multiple of kLanes. Only its upper triangle is read; U overwrites all of it. A pivot
// not above `floor` (> 0) is a rounding error, like the rest of its row: the pivot becomes `floor` and the
// rest zeros.
void factorize(float* h, std::size_t n, float floor, const ForEach& for_each);

}  // namespace ounce::quant
