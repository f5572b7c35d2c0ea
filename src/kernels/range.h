// The range of values in a weight: minimum, maximum and largest magnitude, of whole runs or of the columns of
// a matrix. The source is little-endian binary32 at any alignment. The result is exact and independent of the
// order, so ranges of parts may be merged in any order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ounce::kernels {

struct Range {
  float min = std::numeric_limits<float>::infinity();   // never -0
  float max = -std::numeric_limits<float>::infinity();  // never -0
  std::uint32_t abs_bits = 0;  // largest |x| as bits; >= 0x7f800000 if there is a NaN or infinity

  bool empty() const { return min > max; }
  bool finite() const { return abs_bits < 0x7f800000U; }  // otherwise min and max are -inf and +inf
  float absmax() const { return std::bit_cast<float>(abs_bits); }

  void merge(const Range& other) {
    abs_bits = std::max(abs_bits, other.abs_bits);
    // x + 0 turns -0 into 0, so that the result does not depend on which zero comes first.
    min = finite() ? std::min(min, other.min) + 0.0F : -std::numeric_limits<float>::infinity();
    max = finite() ? std::max(max, other.max) + 0.0F : std::numeric_limits<float>::infinity();
  }
};

// Extends ranges[r] by run r; runs of n elements are consecutive.
void range_of_runs(const std::byte* x, std::size_t runs, std::size_t n, Range* ranges);

inline void range_of_run(const std::byte* x, std::size_t n, Range& range) { range_of_runs(x, 1, n, &range); }

// Extends ranges[c] by column c of a row-major matrix whose rows are `stride` floats apart.
void range_of_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      Range* ranges);

}  // namespace ounce::kernels
