// Pairs of a dot product: which weights of a channel a kernel adds up in 16 bits, and what that asks of their
// codes.
//
// x86 CPUs without VNNI add two products of an unsigned 8-bit activation and a signed 8-bit weight in 16
// bits, where the sum saturates: 255·a + 255·b fits if a and b of the same sign come to 128 at most, whatever
// the activations are. ONNX Runtime's kernels for them (AVX2 and AVX-512 without VNNI; measured by
// tests/cpus) take the inputs of a channel in this order, two by two:
//
//   MatMul, Gemm [K, N]            rows:       (0 1) (2 3) …  of each column
//   Gemm with transB [N, K]        columns:    (0 1) (2 3) …  of each row
//   Conv [M, C, taps]              tap by tap: (c0 c1) (c2 c3) … of tap 0, then of tap 1 …; with an odd C the
//                                  last channel of a tap meets the first one of the next
//
// The last of an odd number has no partner. So a scale is right on every CPU when the largest sum of a pair
// fits the codes, as the largest weight does: most channels lose a third of a bit, and those whose large
// weights are no neighbors lose nothing.
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

// The largest sum of two codes of the same sign that no activation makes saturate: 255 · 128 < 2^15.
inline constexpr int kLargestPairSum = 128;

// Which elements of a weight form pairs.
struct DotProductPairs {
  enum class Order {
    kNone,     // the kernel is exact, or there is no such kernel
    kRows,     // [channels, inputs, taps]
    kColumns,  // [matrices, inputs, channels]
  };
  Order order = Order::kNone;
  std::size_t inputs = 0;
  std::size_t taps = 1;      // of kRows
  std::size_t channels = 0;  // of kColumns

  bool exist() const { return order != Order::kNone; }
  std::size_t channel_count(std::size_t size) const {
    return order == Order::kColumns ? channels : size / std::max<std::size_t>(1, inputs * taps);
  }
};

// Calls visit(channel, i, j) for all pairs of elements of a weight of that size.
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

// What two numbers of the same sign come to; nothing when their signs differ, as one alone always fits.
template <class Number>
Number pair_sum(Number a, Number b) {
  const Number zero{};
  if (a > zero && b > zero) return a + b;
  return a < zero && b < zero ? -(a + b) : zero;
}

// Widens the ranges of the groups (channels, or one for all) by the sums of their pairs, and a little more:
// codes that follow from scales for these ranges are safe however they are rounded, up or down.
void include_pairs(const FloatSource& source, const Layout& layout, const DotProductPairs& pairs,
                   const ForEach& for_each, std::vector<kernels::Range>& ranges);

// The largest sum of a pair of codes, for each channel.
std::vector<int> largest_pair_sums(const std::int8_t* codes, std::size_t size, const DotProductPairs& pairs);

}  // namespace ounce::quant
