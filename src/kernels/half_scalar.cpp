#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/half.h"

namespace ounce::kernels::ref {
namespace {

template <class T>
T value_at(const std::byte* x, std::size_t i) {
  T value;
  std::memcpy(&value, x + i * sizeof value, sizeof value);
  return value;
}

// Converts one value to a format with `kMantissa` stored bits and `kExponent` exponent bits, by definition.
template <int kExponent, int kMantissa>
std::uint16_t narrow(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr auto kInfinity = static_cast<std::uint32_t>((1 << kExponent) - 1) << kMantissa;
  const std::uint32_t sign = bits >> 31 << 15;
  if (std::isnan(x)) {
    const std::uint32_t payload = (bits & 0x007fffffU) >> (23 - kMantissa);
    return static_cast<std::uint16_t>(sign | kInfinity | payload | 1U << (kMantissa - 1));
  }
  if (x == 0) return static_cast<std::uint16_t>(sign);
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | kInfinity);
  // In units of the last place at this magnitude the value is a small exact number; rounding it to an integer
  // rounds to the format. Carries into the next exponent, or to infinity, come out correctly.
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| in [2^(exponent-1), 2^exponent)
  const int stored = std::max(exponent - 1 + kBias, 1);
  const double units =
      std::nearbyint(std::ldexp(std::fabs(static_cast<double>(x)), kMantissa + kBias - stored));
  const auto magnitude =
      (static_cast<std::uint64_t>(stored - 1) << kMantissa) + static_cast<std::uint64_t>(units);
  return static_cast<std::uint16_t>(
      sign | (magnitude < kInfinity ? static_cast<std::uint32_t>(magnitude) : kInfinity));
}

template <int kExponent, int kMantissa>
void narrow_all(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  constexpr auto kInfinity = static_cast<std::uint32_t>((1 << kExponent) - 1) << kMantissa;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = value_at<float>(x, i);
    out[i] = narrow<kExponent, kMantissa>(value);
    const std::uint32_t magnitude = out[i] & 0x7fffU;
    stats.overflow += std::isfinite(value) && magnitude == kInfinity;
    stats.subnormal += magnitude != 0 && magnitude < 1U << kMantissa;
    stats.vanished += value != 0 && magnitude == 0;
  }
}

float widen_f16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const int exponent = half >> 10 & 31;
  const std::uint32_t mantissa = half & 0x3ffU;
  if (exponent == 31) {
    const std::uint32_t quiet = mantissa != 0 ? 0x00400000U : 0U;
    return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13 | quiet);
  }
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                        : std::ldexp(static_cast<float>(mantissa | 0x400U), exponent - 25);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

}  // namespace

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  narrow_all<5, 10>(x, n, out, stats);
}

void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  narrow_all<8, 7>(x, n, out, stats);
}

void f16_to_f32(const std::byte* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = widen_f16(value_at<std::uint16_t>(x, i));
}

void bf16_to_f32(const std::byte* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(value_at<std::uint16_t>(x, i)) << 16);
  }
}

void f64_to_f32(const std::byte* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(value_at<double>(x, i));
}

}  // namespace ounce::kernels::ref

// Without Highway these replace half.cpp: apps convert only an occasional image, and no weights.
#ifdef OUNCE_SCALAR_KERNELS
namespace ounce::kernels {

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  ref::f32_to_f16(x, n, out, stats);
}
void f16_to_f32(const std::byte* x, std::size_t n, float* out) { ref::f16_to_f32(x, n, out); }
void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  ref::f32_to_bf16(x, n, out, stats);
}
void bf16_to_f32(const std::byte* x, std::size_t n, float* out) { ref::bf16_to_f32(x, n, out); }
void f64_to_f32(const std::byte* x, std::size_t n, float* out) { ref::f64_to_f32(x, n, out); }

}  // namespace ounce::kernels
#endif
