// Pairs of products that a kernel adds in 16 bits, and the limits that follow for quantized weights.
//
// x86 CPUs without VNNI add two products of an unsigned 8-bit activation and a signed 8-bit weight in 16
// bits, where the sum saturates (VPMADDUBSW): 255·a + 255·b fits if a and b have the same sign and |a| + |b|
// is at most 128, whatever the activations are. ONNX Runtime's kernels for these CPUs (AVX2 and AVX-512
// without VNNI; measured by tests/cpus) pair the inputs of a channel in this order:
//
//   MatMul, Gemm [K, N]            rows:       (0 1) (2 3) …  of each column
//   Gemm with transB [N, K]        columns:    (0 1) (2 3) …  of each row
//   Conv [M, C, taps]              tap by tap: (c0 c1) (c2 c3) … of tap 0, then of tap 1 …; if C is odd,
//                                  the last channel of a tap is paired with the first one of the next tap
//
// The last one of an odd number has no partner. A scale is safe on every CPU if both the largest sum of a
// pair and the largest weight fit the quantized range. Most channels lose a third of a bit; channels whose
// large weights are not neighbors lose nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/range.h"
#include "quant/float_source.h"
#include "quant/layout.h"

namespace ounce::quant {

// The largest sum of two quantized weights of the same sign that cannot saturate: 255 · 128 < 2^15.
inline constexpr int kLargestPairSum = 128;

// Which elements of a weight are paired.
struct DotProductPairs {
  enum class Order {
    kNone,     // the kernel is exact, or there is no kernel
    kRows,     // [channels, inputs, taps]
    kColumns,  // [matrices, inputs, channels]
  };
  Order order = Order::kNone;
  std::size_t inputs = 0;
  std::size_t taps = 1;      // for kRows
  std::size_t channels = 0;  // for kColumns

  bool exist() const { return order != Order::kNone; }
  std::size_t channel_count(std::size_t size) const {
    return order == Order::kColumns ? channels : size / std::max<std::size_t>(1, inputs * taps);
  }
};

// Calls visit(channel, i, j) for all pairs of elements of a weight of this size.
template <class Visit>
void for_each_pair(const DotProductPairs& pairs, std::size_t size, Visit visit) {
  if (!pairs.exist() || pairs.inputs == 0) return;
  if (pairs.order == DotProductPairs::Order::kColumns) {
    const std::size_t matrix = pairs.inputs * pairs.channels;
    for (std::size_t first = 0; matrix != 0 && first + matrix <= size; first += matrix) {
      for (std::size_t k = 0; k + 1 < pairs.inputs; k += 2) {
        const std::size_t row = first + k * pairs.channels;
        for (std::size_t c = 0; c < pairs.channels; ++c) visit(c, row + c, row + pairs.channels + c);
      }
    }
    return;
  }
  const std::size_t row = pairs.inputs * pairs.taps;
  for (std::size_t channel = 0; row != 0 && (channel + 1) * row <= size; ++channel) {
    std::size_t input = 0, tap = 0;
    const auto next = [&] {
      const std::size_t at = channel * row + input * pairs.taps + tap;
      if (++input == pairs.inputs) {
        input = 0;
        ++tap;
      }
      return at;
    };
    for (std::size_t k = 0; k + 1 < row; k += 2) {
      const std::size_t i = next(), j = next();
      visit(channel, i, j);
    }
  }
}

// The magnitude of the sum of two numbers of the same sign; zero if the signs differ, since one alone always
// fits.
template <class Number>
Number pair_sum(Number a, Number b) {
  const Number zero{};
  if (a > zero && b > zero) return a + b;
  return a < zero && b < zero ? -(a + b) : zero;
}

// Extends the ranges of the groups (channels, or one for all) to the sums of their pairs plus a margin.
// Scales for these ranges are safe however the weights are rounded.
void include_pairs(const FloatSource& source, const Layout& layout, const DotProductPairs& pairs,
                   const ForEach& for_each, std::vector<kernels::Range>& ranges);

// The largest pair sum of quantized values for each channel.
std::vector<int> largest_pair_sums(const std::int8_t* codes, std::size_t size, const DotProductPairs& pairs);

}  // namespace ounce::quant
