// Conversions between binary32 and the other float types of models: binary16, bfloat16, binary64. Narrowing
// rounds to nearest, ties to even, with subnormals. A NaN becomes a quiet NaN with the same sign and leading
// payload. Sources are little-endian at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ounce::kernels {

inline constexpr float kLargestHalf = 65504;

// Statistics of narrowing, accumulated over calls.
struct HalfStats {
  std::uint64_t overflow = 0;   // a finite source became infinite
  std::uint64_t subnormal = 0;  // the result is subnormal and nonzero: precision was lost
  std::uint64_t vanished = 0;   // a nonzero source became zero

  friend bool operator==(const HalfStats&, const HalfStats&) = default;
};

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void f16_to_f32(const std::byte* x, std::size_t n, float* out);

void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void bf16_to_f32(const std::byte* x, std::size_t n, float* out);  // exact, including NaNs

void f64_to_f32(const std::byte* x, std::size_t n, float* out);

// Reference implementations in plain C++. The vectorized functions give identical bits.
namespace ref {

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void f16_to_f32(const std::byte* x, std::size_t n, float* out);
void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void bf16_to_f32(const std::byte* x, std::size_t n, float* out);
void f64_to_f32(const std::byte* x, std::size_t n, float* out);

}  // namespace ref

}  // namespace ounce::kernels
