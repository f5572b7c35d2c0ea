#include "quant/dot_product_pairs.h"

#include <ounce/error.h>

#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

#include "quant/layout.h"

namespace ounce::quant {
namespace {

// The range includes a margin: a pair that fills the range to 127 may be rounded up to 128, and scales stored
// as 16-bit floats may be 2^-11 smaller.
constexpr float kRoom = 1.001F;
// Keep the sum of two large weights finite.
constexpr float kLargest = std::numeric_limits<float>::max() / 1.06F;  // scales may cover 1.05 of it

float value_at(const std::byte* values, std::size_t i) {
  float value = 0;
  std::memcpy(&value, values + i * sizeof value, sizeof value);
  return value;
}

// Consecutive elements with whole pairs: some rows of one matrix, or some channels.
struct Piece {
  DotProductPairs pairs;
  std::size_t first, count, channel;
};

std::vector<Piece> pieces_of(const DotProductPairs& pairs, std::size_t size) {
  std::vector<Piece> pieces;
  const bool has_columns = pairs.order == DotProductPairs::Order::kColumns;
  const std::size_t row = has_columns ? pairs.channels : pairs.inputs * pairs.taps;
  if (row == 0) return pieces;
  const std::size_t rows = size / row, whole = has_columns ? pairs.inputs : rows;
  const std::size_t step = std::max<std::size_t>(2, kTile / row / 2 * 2);
  for (std::size_t matrix = 0; whole != 0 && matrix + whole <= rows; matrix += whole) {
    for (std::size_t r = 0; r < whole; r += step) {
      const std::size_t count = std::min(step, whole - r);
      Piece piece{pairs, (matrix + r) * row, count * row, has_columns ? 0 : r};
      if (has_columns) piece.pairs.inputs = count;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

}  // namespace

void include_pairs(const FloatSource& source, const Layout& layout, const DotProductPairs& pairs,
                   const ForEach& for_each, std::vector<kernels::Range>& ranges) {
  const std::vector<Piece> pieces = pieces_of(pairs, source.size());
  const bool is_one_group = layout.groups() == 1;
  if (!is_one_group && pairs.channel_count(source.size()) != ranges.size())
    throw Error(ErrorCode::kInternal, "the channels of a weight do not match its pairs");
  std::mutex mutex;
  for_each(pieces.size(), [&](std::size_t number) {
    const Piece& piece = pieces[number];
    std::vector<float> scratch, largest(piece.pairs.channel_count(piece.count), 0.0F);
    const std::byte* values = source.values(piece.first, piece.count, scratch);
    for_each_pair(piece.pairs, piece.count, [&](std::size_t channel, std::size_t i, std::size_t j) {
      largest[channel] = std::max(largest[channel], pair_sum(value_at(values, i), value_at(values, j)));
    });
    source.release(piece.first, piece.count);
    const std::lock_guard lock(mutex);
    for (std::size_t c = 0; c < largest.size(); ++c) {
      kernels::Range& range = ranges[is_one_group ? 0 : piece.channel + c];
      const float sum = std::min(largest[c] * kRoom, kLargest);
      range.abs_bits = std::max(range.abs_bits, std::bit_cast<std::uint32_t>(sum));
    }
  });
}

std::vector<int> largest_pair_sums(const std::int8_t* codes, std::size_t size, const DotProductPairs& pairs) {
  if (size == 0) return {};
  std::vector<int> largest(pairs.channel_count(size), 0);
  for_each_pair(pairs, size, [&](std::size_t channel, std::size_t i, std::size_t j) {
    largest[channel] = std::max(largest[channel], pair_sum(int{codes[i]}, int{codes[j]}));
  });
  return largest;
}

}  // namespace ounce::quant
