// Loops over rows of floats in lanes of a fixed number, which a compiler turns into vectors of any width
// without changing a bit of the result. Rows are padded to whole lanes; what is beyond their end must be
// finite, and zero where it would count.
#pragma once

#include <array>
#include <cstddef>

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

}  // namespace ounce::quant
