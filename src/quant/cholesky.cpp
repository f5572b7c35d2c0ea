#include "quant/cholesky.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "quant/lanes.h"
#include "quant/outer_products.h"

namespace ounce::quant {
namespace {

constexpr std::size_t kBlock = 64;

std::size_t lane_start(std::size_t i) { return i / kLanes * kLanes; }

// The rows [first, end) of U, given that those above have been subtracted from them.
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

// Subtracts what the rows [first, end) of U make up of the tile at (top, left).
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
