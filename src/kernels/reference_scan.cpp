#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/reference.h"
#include "kernels/reference_sum.h"

// The references of range.h, norms.h and lookup.h, which look at values one after the other.
namespace ounce::kernels::ref {

void range_of_runs(const std::byte* x, std::size_t runs, std::size_t n, Range* ranges) {
  for (std::size_t i = 0; i < runs * n; ++i) {
    const float value = f32_at(x, i);
    ranges[i / n].merge({value, value, std::bit_cast<std::uint32_t>(value) & 0x7fffffffU});
  }
}

void range_of_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      Range* ranges) {
  for (std::size_t r = 0; r < rows; ++r) ref::range_of_runs(x + r * stride * sizeof(float), cols, 1, ranges);
}

void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms) {
  RunSum signal;
  RunSum noise;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = f32_at(x, i);
    const float error = value - y[i];
    signal.add(value * value, norms.signal);
    noise.add(error * error, norms.noise);
    if (std::isnan(error) || std::fabs(error) > norms.max_abs) norms.max_abs = std::fabs(error);
  }
  signal.finish(norms.signal);
  noise.finish(norms.noise);
}

void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const float value = f32_at(x, i);
    const auto below = [value](float boundary) { return boundary < value; };
    codes[i] = static_cast<std::uint8_t>(k < 2 ? 0 : std::count_if(boundaries, boundaries + k - 1, below));
  }
}

}  // namespace ounce::kernels::ref
