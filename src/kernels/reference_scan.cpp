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

double lack_of_run(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                   const std::uint8_t* codes, float* lack) {
  RunSum sum;
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const int code = sign == CodeSign::kSigned ? static_cast<std::int8_t>(codes[i]) : codes[i];
    lack[i] = f32_at(x, i) * affine.inverse - (static_cast<float>(code) - affine.zero);
    sum.add(lack[i], total);
  }
  sum.finish(total);
  return total;
}

std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (values[i] * direction > bound) indices[found++] = static_cast<std::uint32_t>(i);
  }
  return found;
}

void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums) {
  for (std::size_t j = 0; j < count; ++j) {
    sums[j] = values[j * n];
    for (std::size_t i = 1; i < n; ++i) sums[j] += values[j * n + i];
  }
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
