// Between binary32 and the narrower and wider floats that a model may hold: binary16, bfloat16, binary64.
// Narrowing rounds to nearest, ties to even, with subnormals; a NaN stays a NaN, made quiet, keeping sign and
// leading payload. Sources are little-endian at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ounce::kernels {

inline constexpr float kLargestHalf = 65504;

// What narrowing did to values; added to by each call.
struct HalfStats {
  std::uint64_t overflow = 0;   // a finite source became infinite
  std::uint64_t subnormal = 0;  // the result is not zero but subnormal: bits were lost
  std::uint64_t vanished = 0;   // a nonzero source became zero

  friend bool operator==(const HalfStats&, const HalfStats&) = default;
};

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void f16_to_f32(const std::byte* x, std::size_t n, float* out);

void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void bf16_to_f32(const std::byte* x, std::size_t n, float* out);  // every bit as it is, NaNs too

void f64_to_f32(const std::byte* x, std::size_t n, float* out);

// The same in plain C++, value by value from the definitions. The vectorized functions give these very bits.
namespace ref {

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void f16_to_f32(const std::byte* x, std::size_t n, float* out);
void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void bf16_to_f32(const std::byte* x, std::size_t n, float* out);
void f64_to_f32(const std::byte* x, std::size_t n, float* out);

}  // namespace ref

}  // namespace ounce::kernels
