// Linear codes for weights: which numbers they may be, how the scale of each group is found, how values
// become codes and back.
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

// A code c stands for (c - zero) * scale.
struct LinearFormat {
  kernels::CodeRange codes;
  kernels::CodeSign sign = kernels::CodeSign::kSigned;
  float zero = 0;            // of symmetric codes
  bool is_symmetric = true;  // otherwise each group has its own zero
  bool half_scales = false;  // scales are numbers that 16-bit floats can hold
};

inline constexpr LinearFormat kSymmetricInt8{{-127, 127}, kernels::CodeSign::kSigned, 0, true, false};
inline constexpr LinearFormat kAsymmetricInt8{{0, 255}, kernels::CodeSign::kUnsigned, 0, false, false};
inline constexpr LinearFormat kSymmetricInt4{{-8, 7}, kernels::CodeSign::kSigned, 0, true, false};
// Codes that ordinary ops decode. Those of fewer than 8 bits are unsigned, and half of them are below zero.
constexpr LinearFormat linear_format(unsigned bits, bool is_asymmetric) {
  if (bits == 8) return is_asymmetric ? kAsymmetricInt8 : kSymmetricInt8;
  const int codes = 1 << bits;
  const float zero = is_asymmetric ? 0.0F : static_cast<float>(codes / 2);
  return {{0, codes - 1}, kernels::CodeSign::kUnsigned, zero, !is_asymmetric, false};
}

// The range of every group; exact. Values that are not finite show in Range::finite().
// They are read in contiguous tiles of kTile elements; `visit`, if given, is called for each while it is in
// the cache.
using VisitTile = std::function<void(std::size_t tile, std::size_t first, std::size_t count)>;
std::vector<kernels::Range> find_ranges(const FloatSource& source, const Layout& layout,
                                        const ForEach& for_each, const VisitTile& visit = {});

std::vector<kernels::Affine> find_affine(const FloatSource& source, const Layout& layout,
                                         const LinearFormat& format,
                                         const std::vector<kernels::Range>& ranges, ScaleMethod method,
                                         const ForEach& for_each);

// The codes of [first, first + count), one a byte. A `kernel` other than 0 asks for balanced rounding (see
// balance_runs) of the channels that lie whole in the range and in one piece in memory.
void encode_linear(const FloatSource& source, const Layout& layout, const LinearFormat& format,
                   const std::vector<kernels::Affine>& affine, std::size_t kernel, std::size_t first,
                   std::size_t count, std::uint8_t* codes);
// And back, as a runtime decodes them. `codes` are those of [first, first + count).
void decode_linear(const std::uint8_t* codes, const Layout& layout, const LinearFormat& format,
                   const std::vector<kernels::Affine>& affine, std::size_t first, std::size_t count,
                   float* values);

// Can the scales of these groups be 16-bit floats, to their full precision?
bool fits_half_scales(const std::vector<kernels::Range>& ranges, const LinearFormat& format);

// A scale and zero as a file holds them.
kernels::Affine make_affine(float scale, float zero);

// Rounding that keeps sums: changes `codes`, the nearest codes of `runs` consecutive channels of n values.
// `kernel` consecutive values make a kernel; 1 for none.
//
// Rounding every weight to the nearest code leaves errors whose sum over a channel is a random walk. Inputs
// are rarely of mean zero (they come out of a ReLU, or hold energies), so that sum turns into a shift of the
// output, and over the taps of one kernel into an error at low frequencies. So a few codes, those that were
// closest to being rounded the other way, are moved by one until the errors of each kernel, and then of each
// channel, sum to at most half a step. The squared error hardly grows; the error at the model's output drops
// by 2 to 3 dB on convolutional networks.
void balance_runs(const std::byte* x, std::size_t runs, std::size_t n, std::size_t kernel,
                  const kernels::Affine* affine, kernels::CodeRange range, std::uint8_t* codes);

}  // namespace ounce::quant
