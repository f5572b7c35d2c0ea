// How far a decoded weight is from the original. Sums add up in the order of summation.h, so runs may be
// split at multiples of kRunBlock.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/summation.h"

namespace ounce::kernels {

struct ErrorNorms {
  double signal = 0;  // sum of x^2
  double noise = 0;   // sum of (x - y)^2
  float max_abs = 0;  // largest |x - y|; a NaN if any is

  // Signal to quantization noise: +inf without noise.
  double sqnr_db() const {
    return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  }
};

// Adds n elements: the original x (little-endian binary32 at any alignment) against y.
void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms);

}  // namespace ounce::kernels
