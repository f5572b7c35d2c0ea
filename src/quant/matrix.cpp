#include "quant/matrix.h"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace ounce::quant {
namespace {

struct Operands {
  const float *a, *b;
  std::size_t rows, stride, height, width;
  float* out;
};

// Must be inlined into callers that may use wider vectors.
#define OUNCE_INLINE [[gnu::always_inline]] inline

constexpr std::size_t kHeight = 4;

// Products of kHeight columns of a with those of b from `column` on, two vectors of kWidth at a time, as far
// as they fill; returns the next column. The eight sums stay in registers.
template <std::size_t kWidth>
OUNCE_INLINE std::size_t fill_rows(const Operands& in, std::size_t top, std::size_t column) {
  using Vector [[gnu::vector_size(kWidth * sizeof(float))]] = float;
  for (; column + 2 * kWidth <= in.width; column += 2 * kWidth) {
    Vector sums[kHeight][2] = {};
    const float *a = in.a + top, *b = in.b + column;
    for (std::size_t r = 0; r < in.rows; ++r, a += in.stride, b += in.stride) {
      Vector left, right;
      std::memcpy(&left, b, sizeof left);
      std::memcpy(&right, b + kWidth, sizeof right);
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kHeight; ++i) {
        sums[i][0] += left * a[i];
        sums[i][1] += right * a[i];
      }
    }
    for (std::size_t i = 0; i < kHeight; ++i)
      std::memcpy(in.out + (top + i) * in.width + column, sums[i], sizeof sums[i]);
  }
  return column;
}

template <std::size_t kWidth>
OUNCE_INLINE void fill(const Operands& in) {
  for (std::size_t top = 0; top < in.height; top += kHeight) {
    const std::size_t column = fill_rows<kWidth>(in, top, 0);
    fill_rows<4>(in, top, column);
  }
}

using Fill = void (*)(const Operands&);

void fill_anywhere(const Operands& in) { fill<4>(in); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void fill_avx2(const Operands& in) { fill<8>(in); }
[[gnu::target("avx512f")]] void fill_avx512(const Operands& in) { fill<16>(in); }

// Uses Highway's CPU detection; that of the compilers needs a library that is not always linked.
Fill widest() {
  const auto targets = hwy::SupportedTargets();
  if ((targets & HWY_AVX3) != 0) return fill_avx512;
  return (targets & HWY_AVX2) != 0 ? fill_avx2 : fill_anywhere;
}
#else
Fill widest() { return fill_anywhere; }
#endif

}  // namespace

void outer_products(const float* a, const float* b, std::size_t rows, std::size_t stride, std::size_t height,
                    std::size_t width, float* out) {
  static const Fill fill_all = widest();
  fill_all({a, b, rows, stride, height, width, out});
}

namespace {

constexpr std::size_t kBlock = 64;

std::size_t lane_start(std::size_t i) { return i / kLanes * kLanes; }

// Computes the rows [first, end) of U, after the rows above have been subtracted from them.
void finish_rows(float* h, std::size_t n, std::size_t first, std::size_t end, float floor) {
  for (std::size_t k = first; k < end; ++k) {
    float* const row = h + k * n;
    const bool is_known = row[k] > floor;
    const float pivot = std::sqrt(is_known ? row[k] : floor);
    std::fill(row, row + k, 0.0F);
    row[k] = pivot;
    for (std::size_t j = k + 1; j < n; ++j) row[j] = is_known ? row[j] / pivot : 0;
    for (std::size_t i = k + 1; i < end; ++i) {
      const std::size_t from = lane_start(i);
      add_scaled(h + i * n + from, row + from, -row[i], n - from);
    }
  }
}

// Subtracts the contribution of the rows [first, end) of U from the tile at (top, left).
void subtract_from_tile(float* h, std::size_t n, std::size_t first, std::size_t end, std::size_t top,
                        std::size_t left) {
  std::array<float, kBlock * kBlock> products;
  const std::size_t height = std::min(kBlock, n - top), width = std::min(kBlock, n - left);
  const float* const rows = h + first * n;
  outer_products(rows + top, rows + left, end - first, n, height, width, products.data());
  for (std::size_t i = 0; i < height; ++i)
    add_scaled(h + (top + i) * n + left, products.data() + i * width, -1, width);
}

}  // namespace

void factorize(float* h, std::size_t n, float floor, const ForEach& for_each) {
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t end = std::min(first + kBlock, n);
    finish_rows(h, n, first, end, floor);
    for_each((n - end + kBlock - 1) / kBlock, [&](std::size_t step) {
      const std::size_t top = end + step * kBlock;
      for (std::size_t left = top; left < n; left += kBlock) subtract_from_tile(h, n, first, end, top, left);
    });
  }
}

}  // namespace ounce::quant
