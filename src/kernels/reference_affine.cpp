#include <algorithm>
#include <cmath>

#include "kernels/reference.h"
#include "kernels/reference_sum.h"

namespace ounce::kernels::ref {
namespace {

float code_of(float x, const Affine& affine, CodeRange range) {
  const float steps = x * affine.inverse;
  // nearbyint rounds halves to even in the rounding mode that programs start with.
  const float code = std::isnan(steps) ? affine.zero : std::nearbyint(steps) + affine.zero;
  return std::clamp(code, static_cast<float>(range.lo), static_cast<float>(range.hi));
}

}  // namespace

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

}  // namespace ounce::kernels::ref
