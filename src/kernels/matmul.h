// Products of row-major binary32 matrices:
//
//   out[i * out_stride + j] = Σ a[i * a_stride + k] * b[k * b_stride + j]      over k < depth
//
// Products are rounded before they are added (no fused multiply-add), in blocks of kSumBlock terms whose sums
// are added in order, so the result is the same on every CPU, whatever its vector width.
#pragma once

#include <cstddef>

namespace ounce::kernels {

inline constexpr std::size_t kSumBlock = 128;

struct MatrixProduct {
  const float* a = nullptr;
  const float* b = nullptr;
  float* out = nullptr;
  std::size_t rows = 0, columns = 0, depth = 0;
  std::size_t a_stride = 0, b_stride = 0, out_stride = 0;
};

void multiply(const MatrixProduct& product);

namespace ref {
void multiply(const MatrixProduct& product);
}  // namespace ref

}  // namespace ounce::kernels
