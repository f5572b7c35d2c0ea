#include "quant/error.h"

#include <cmath>
#include <cstring>

namespace ounce::quant {

// Squares of very large and very small weights overflow or underflow binary32; those are added in binary64.
void add_error(const std::byte* x, const float* y, std::size_t n, kernels::ErrorNorms& norms) {
  kernels::ErrorNorms piece;
  kernels::error_norms(x, y, n, piece);
  const bool is_in_range = std::isfinite(piece.signal) && std::isfinite(piece.noise) && piece.signal > 1e-20;
  if (!is_in_range) {
    piece = {};
    for (std::size_t i = 0; i < n; ++i) {
      float value = 0;
      std::memcpy(&value, x + i * sizeof value, sizeof value);
      const bool is_same = value == y[i] || (std::isnan(value) && std::isnan(y[i]));
      if (is_same && !std::isfinite(value)) continue;  // an infinite mask value that is unchanged
      const double exact = static_cast<double>(value), error = exact - static_cast<double>(y[i]);
      piece.signal += exact * exact;
      piece.noise += error * error;
      const auto magnitude = static_cast<float>(std::fabs(error));
      if (!(magnitude <= piece.max_abs)) piece.max_abs = magnitude;
    }
  }
  norms.signal += piece.signal;
  norms.noise += piece.noise;
  if (!(piece.max_abs <= norms.max_abs)) norms.max_abs = piece.max_abs;
}

}  // namespace ounce::quant
