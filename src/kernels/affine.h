// Linear quantization of weights to 8 bits or fewer, dequantization, and the quantization error.
//
//   code = clamp(round_half_even(x * inverse) + zero, lo, hi)      x' = (code - zero) * scale
//
// Computed in binary32 in this order, without fused operations, so the results are the same on every CPU.
// `inverse` is 1 / scale as rounded by the caller (0 for a scale of 0) and must be finite; `zero` is an
// integer in [lo, hi]. Huge or infinite x are clamped; a NaN is quantized like 0. Sources are little-endian
// binary32 at any alignment.
//
// `..._runs`: `runs` consecutive runs of n elements, each with its own Affine; one call for many short runs.
// `..._columns`: a row-major matrix whose rows are `stride` floats apart, with one Affine per column;
// quantized values are dense.
//
// The order of sums is part of the interface, because floating-point sums depend on it: the same data gives
// the same bits on every CPU. A run is split into blocks of kRunBlock elements. In a block, element i is
// added in binary32 to partial sum i % kSumLanes; the partial sums are then halved (lane i += lane i + 8,
// then + 4, + 2, + 1), and the remaining one is added to the caller's double. A column is split into blocks
// of kRowBlock rows; each block is added row by row in binary32 and then added to the caller's double.
// Splitting runs at multiples of kRunBlock, rows at multiples of kRowBlock, and columns and candidates
// anywhere therefore does not change the result. Squares are computed in binary32: values beyond 1e19
// overflow to infinity, values below 1e-23 underflow to zero. The error of an x that is not finite is not
// finite.
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

// Within [-128, 127] or [0, 255]; a quantized value is stored as its low 8 bits.
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

// The error of a dequantized weight.
struct ErrorNorms {
  double signal = 0;  // sum of x^2
  double noise = 0;   // sum of (x - y)^2
  float max_abs = 0;  // largest |x - y|; NaN if any is NaN

  // Signal-to-quantization-noise ratio in dB; +inf without noise.
  double sqnr_db() const {
    return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  }
};

// Adds n elements: the original x (little-endian binary32 at any alignment) against y.
void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms);

// The rounding residuals of n quantized values in steps, x * inverse - (code - zero), for rounding methods
// that consider several values. Returns their sum.
double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual);

// Finds the ascending indices with values[i] * direction > bound; direction is 1 or -1. Returns their number;
// `indices` has room for n.
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices);

// sums[j] of `count` consecutive groups of n values, each added in order in binary32.
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums);

// The instruction sets that the kernels were compiled for, best first: "AVX3", "AVX2", "SSE4" … The CPU
// determines which one runs.
std::vector<std::string> built_targets();

}  // namespace ounce::kernels
