// Linear quantization of weights to 8 bits or fewer, and back, and the error it makes.
//
//   code = clamp(round_half_even(x * inverse) + zero, lo, hi)      x' = (code - zero) * scale
//
// All in binary32 and in that order, never fused, so the codes are the same on every CPU. `inverse` is
// 1 / scale as the caller rounds it (0 for a scale of 0) and must be finite; `zero` is an integer in [lo,
// hi]. An x that is huge or infinite clamps; a NaN is coded like 0. Sources are little-endian binary32 at any
// alignment.
//
// `..._runs`: `runs` consecutive runs of n elements, each with its own Affine; one call for many short runs.
// `..._columns`: a row-major matrix whose rows are `stride` floats apart, one Affine for each column; codes
// are dense.
//
// Squared errors add up in the order of summation.h: splitting runs at multiples of kRunBlock, rows at
// multiples of kRowBlock, and columns and candidates anywhere, does not change the result. If an x is not
// finite, neither is its error.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/summation.h"

namespace ounce::kernels {

struct Affine {
  float scale;
  float inverse;
  float zero;
};

// Within [-128, 127] or [0, 255]; a code is stored as its low 8 bits.
struct CodeRange {
  int lo;
  int hi;
};

enum class CodeSign { kSigned, kUnsigned };

void quantize_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* affine, CodeRange range,
                   std::uint8_t* codes);
void quantize_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      const Affine* affine, CodeRange range, std::uint8_t* codes);

void decode_runs(const std::uint8_t* codes, std::size_t runs, std::size_t n, const Affine* affine,
                 CodeSign sign, float* out);
void decode_columns(const std::uint8_t* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                    CodeSign sign, float* out);

// Adds the sum of (x - x')^2 to error[k * runs + r], for each run r and each of its candidates[k * runs + r].
void squared_error_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* candidates,
                        std::size_t count, CodeRange range, double* error);
// The same for columns: candidates[k * cols + c], error[k * cols + c].
void squared_error_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                           const Affine* candidates, std::size_t count, CodeRange range, double* error);

inline void quantize_run(const std::byte* x, std::size_t n, const Affine& affine, CodeRange range,
                         std::uint8_t* codes) {
  quantize_runs(x, 1, n, &affine, range, codes);
}
inline void decode_run(const std::uint8_t* codes, std::size_t n, const Affine& affine, CodeSign sign,
                       float* out) {
  decode_runs(codes, 1, n, &affine, sign, out);
}
inline void squared_error_run(const std::byte* x, std::size_t n, const Affine* candidates, std::size_t count,
                              CodeRange range, double* error) {
  squared_error_runs(x, 1, n, candidates, count, range, error);
}

}  // namespace ounce::kernels
