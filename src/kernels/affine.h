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
// The order of sums is part of every contract, as floating-point sums depend on it: the same data gives the
// same bits on every CPU. A run is cut into blocks of kRunBlock elements. In a block, element i is added in
// binary32 to partial sum i % kSumLanes; the partial sums are then halved (lane i += lane i + 8, then + 4, +
// 2,
// + 1) and the remaining one is added to the caller's double. A column is cut into blocks of kRowBlock rows;
// a block is added up row by row in binary32 and then added to the caller's double. So splitting runs at
// multiples of kRunBlock, rows at multiples of kRowBlock, and columns and candidates anywhere, does not
// change the result. Squares are taken in binary32: values beyond 1e19 overflow to infinity, below 1e-23 they
// vanish. If an x is not finite, neither is its error.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ounce::kernels {

inline constexpr std::size_t kSumLanes = 16;
inline constexpr std::size_t kRunBlock = 1024;
inline constexpr std::size_t kRowBlock = 256;

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

// How far a decoded weight is from the original.
struct ErrorNorms {
  double signal = 0;  // sum of x^2
  double noise = 0;   // sum of (x - y)^2
  float max_abs = 0;  // largest |x - y|; a NaN if any is

  // Signal to quantization noise: +inf without noise.
  double sqnr_db() const {
    return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  }
};

// Adds n elements: the original x (little-endian binary32 at any alignment) against y.
void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms);

// The steps that codes residual of n values, x * inverse - (code - zero), for rounding that looks at more
// than one value. Returns their sum.
double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual);

// Where values[i] * direction > bound, ascending; direction is 1 or -1. Returns how many; `indices` has room
// for n.
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices);

// sums[j] of `count` groups of n values that follow one another, each added up in order in binary32.
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums);

// The instruction sets that the kernels were compiled for, best first: "AVX3", "AVX2", "SSE4" … The CPU
// decides which of them runs.
std::vector<std::string> built_targets();

}  // namespace ounce::kernels
