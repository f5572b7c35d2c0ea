#include "support/kernel_reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace ounce::kernels::ref {
namespace {

float f32_at(const std::byte* x, std::size_t i) {
  float value;
  std::memcpy(&value, x + i * sizeof value, sizeof value);
  return value;
}

float code_of(float x, const Affine& affine, CodeRange range) {
  const float steps = x * affine.inverse;
  // nearbyint rounds halves to even in the default rounding mode.
  const float code = std::isnan(steps) ? affine.zero : std::nearbyint(steps) + affine.zero;
  return std::clamp(code, static_cast<float>(range.lo), static_cast<float>(range.hi));
}

std::uint8_t quantize(float x, const Affine& affine, CodeRange range) {
  return static_cast<std::uint8_t>(static_cast<int>(code_of(x, affine, range)));
}

float decode(std::uint8_t code, const Affine& affine, CodeSign sign) {
  const int value = sign == CodeSign::kSigned ? static_cast<std::int8_t>(code) : code;
  return (static_cast<float>(value) - affine.zero) * affine.scale;
}

float squared_error(float x, const Affine& affine, CodeRange range) {
  const float decoded = (code_of(x, affine, range) - affine.zero) * affine.scale;
  const float error = x - decoded;
  return error * error;
}

// Sums a run in the order that kernels/affine.h defines: add every value, then finish.
class RunSum {
 public:
  void add(float value, double& total) {
    lanes_[count_ % kSumLanes] += value;
    if (++count_ == kRunBlock) finish(total);
  }

  void finish(double& total) {
    if (count_ == 0) return;
    for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) lanes_[i] += lanes_[i + half];
    }
    total += static_cast<double>(lanes_[0]);
    *this = RunSum();
  }

 private:
  std::array<float, kSumLanes> lanes_{};
  std::size_t count_ = 0;
};

}  // namespace

void quantize_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* affine, CodeRange range,
                   std::uint8_t* codes) {
  for (std::size_t i = 0; i < runs * n; ++i) codes[i] = quantize(f32_at(x, i), affine[i / n], range);
}

void quantize_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      const Affine* affine, CodeRange range, std::uint8_t* codes) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c)
      codes[r * cols + c] = quantize(f32_at(x, r * stride + c), affine[c], range);
  }
}

void decode_runs(const std::uint8_t* codes, std::size_t runs, std::size_t n, const Affine* affine,
                 CodeSign sign, float* out) {
  for (std::size_t i = 0; i < runs * n; ++i) out[i] = decode(codes[i], affine[i / n], sign);
}

void decode_columns(const std::uint8_t* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                    CodeSign sign, float* out) {
  for (std::size_t i = 0; i < rows * cols; ++i) out[i] = decode(codes[i], affine[i % cols], sign);
}

void squared_error_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* candidates,
                        std::size_t count, CodeRange range, double* error) {
  for (std::size_t i = 0; i < count * runs; ++i) {
    const std::size_t run = i % runs;
    RunSum sum;
    for (std::size_t j = 0; j < n; ++j)
      sum.add(squared_error(f32_at(x, run * n + j), candidates[i], range), error[i]);
    sum.finish(error[i]);
  }
}

void squared_error_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                           const Affine* candidates, std::size_t count, CodeRange range, double* error) {
  for (std::size_t i = 0; i < count * cols; ++i) {
    const std::size_t column = i % cols;
    for (std::size_t top = 0; top < rows; top += kRowBlock) {
      float sum = 0;
      for (std::size_t r = top; r < std::min(top + kRowBlock, rows); ++r) {
        sum += squared_error(f32_at(x, r * stride + column), candidates[i], range);
      }
      error[i] += static_cast<double>(sum);
    }
  }
}

void improve_panel(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                   std::size_t count, PanelBest& best) {
  for (std::size_t at = 0; at < count * kPanelBlocks; ++at) {
    const PanelCandidate& candidate = candidates[at / kPanelBlocks];
    const std::size_t block = at % kPanelBlocks;
    float product = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float value = x[i * kPanelBlocks + block];
      const float steps =
          std::clamp(value * candidate.inverse[block], candidate.lo[block], candidate.hi[block]);
      const float code = std::nearbyint(steps), weighted = h == nullptr ? code : code * h[i];
      product += weighted * value;
      square += weighted * code;
    }
    const float scale = product / square, gain = scale * product;
    if (!(gain > best.gain[block]) || !std::isfinite(gain)) continue;
    best.scale[block] = scale;
    best.gain[block] = gain;
    best.lo[block] = candidate.lo[block];
  }
}

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

double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual) {
  RunSum sum;
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const int code = sign == CodeSign::kSigned ? static_cast<std::int8_t>(codes[i]) : codes[i];
    residual[i] = f32_at(x, i) * affine.inverse - (static_cast<float>(code) - affine.zero);
    sum.add(residual[i], total);
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

void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) {
  for (std::size_t i = 0; i < n; i += 2) {
    const unsigned low = codes[i] & 15U;
    const unsigned high = i + 1 < n ? codes[i + 1] & 15U : 0U;
    packed[i / 2] = static_cast<std::uint8_t>(low | high << 4);
  }
}

void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned both = packed[i / 2];
    codes[i] = static_cast<std::uint8_t>(i % 2 == 0 ? both & 15U : both >> 4);
  }
}

void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  unpack_pairs(packed, n, codes);
  for (std::size_t i = 0; i < n; ++i)
    codes[i] = static_cast<std::uint8_t>(codes[i] < 8 ? codes[i] : codes[i] - 16);
}

}  // namespace ounce::kernels::ref
