// Linear quantization of weights: formats, the search for scales, quantization and dequantization.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/affine.h"
#include "kernels/range.h"
#include "quant/float_source.h"
#include "quant/layout.h"

namespace ounce::quant {

// A quantized value q represents (q - zero) * scale.
struct LinearFormat {
  kernels::CodeRange codes;
  kernels::CodeSign sign = kernels::CodeSign::kSigned;
  float zero = 0;            // zero point if symmetric
  bool is_symmetric = true;  // otherwise each group has its own zero point
  bool half_scales = false;  // scales are representable as 16-bit floats
};

inline constexpr LinearFormat kSymmetricInt8{{-127, 127}, kernels::CodeSign::kSigned, 0, true, false};
inline constexpr LinearFormat kAsymmetricInt8{{0, 255}, kernels::CodeSign::kUnsigned, 0, false, false};
inline constexpr LinearFormat kSymmetricInt4{{-8, 7}, kernels::CodeSign::kSigned, 0, true, false};
// The formats that ordinary ops dequantize. Below 8 bits the values are unsigned with the zero point in the
// middle.
constexpr LinearFormat linear_format(unsigned bits, bool is_asymmetric) {
  if (bits == 8) return is_asymmetric ? kAsymmetricInt8 : kSymmetricInt8;
  const int codes = 1 << bits;
  const float zero = is_asymmetric ? 0.0F : static_cast<float>(codes / 2);
  return {{0, codes - 1}, kernels::CodeSign::kUnsigned, zero, !is_asymmetric, false};
}

// The exact range of every group. Range::finite() is false for groups with values that are not finite. Reads
// contiguous tiles of kTile elements; calls `visit`, if given, for each tile while it is in the cache.
using VisitTile = std::function<void(std::size_t tile, std::size_t first, std::size_t count)>;
std::vector<kernels::Range> find_ranges(const FloatSource& source, const Layout& layout,
                                        const ForEach& for_each, const VisitTile& visit = {});

std::vector<kernels::Affine> find_affine(const FloatSource& source, const Layout& layout,
                                         const LinearFormat& format,
                                         const std::vector<kernels::Range>& ranges, ScaleMethod method,
                                         const ForEach& for_each);

// Writes the quantized values of [first, first + count), one byte each. A `kernel` other than 0 requests
// balanced rounding (see balance_runs) of the channels that are contiguous and completely in the range.
void encode_linear(const FloatSource& source, const Layout& layout, const LinearFormat& format,
                   const std::vector<kernels::Affine>& affine, std::size_t kernel, std::size_t first,
                   std::size_t count, std::uint8_t* codes);
// Dequantizes as a runtime does. `codes` are the quantized values of [first, first + count).
void decode_linear(const std::uint8_t* codes, const Layout& layout, const LinearFormat& format,
                   const std::vector<kernels::Affine>& affine, std::size_t first, std::size_t count,
                   float* values);

// True if 16-bit floats can represent the scales of these groups with full precision.
bool fits_half_scales(const std::vector<kernels::Range>& ranges, const LinearFormat& format);

// The scale and zero point as stored in a file.
kernels::Affine make_affine(float scale, float zero);

// Rounding that preserves sums: changes `codes`, the nearest quantized values of `runs` consecutive channels
// of n values. `kernel` consecutive values form a kernel; 1 for none.
//
// With nearest rounding, the sum of the errors of a channel is a random walk. Inputs rarely have mean zero
// (outputs of a ReLU, energies), so that sum shifts the output, and within one kernel it causes low-frequency
// errors. Therefore a few values, those that were closest to being rounded the other way, are moved by one
// step until the errors of each kernel, and then of each channel, sum to at most half a step. The squared
// error hardly grows; the error at the model's output drops by 2 to 3 dB on convolutional networks.
void balance_runs(const std::byte* x, std::size_t runs, std::size_t n, std::size_t kernel,
                  const kernels::Affine* affine, kernels::CodeRange range, std::uint8_t* codes);

// Adds n values: the original x (little-endian binary32 at any alignment) against y. Infinite values that are
// equal on both sides have no error.
void add_error(const std::byte* x, const float* y, std::size_t n, kernels::ErrorNorms& norms);

}  // namespace ounce::quant
