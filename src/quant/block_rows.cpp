#include "quant/block_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/pack.h"
#include "quant/tiles.h"

namespace ounce::quant {
namespace {

constexpr std::size_t kLine = 16;                      // floats of a cache line
constexpr std::size_t kCodesPerByte = 4;               // of 2 bits
constexpr std::size_t kStripe = std::size_t{1} << 16;  // values: with their codes they stay in a cache

// Rows of a stripe: what fits, in whole cache lines of a source that is read down its columns.
std::size_t stripe_rows(const BlockRows& shape) {
  const std::size_t fitting = kStripe / std::max<std::size_t>(1, shape.width());
  return std::max(kLine, fitting / kLine * kLine);
}

void read_columns(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                  float* values) {
  const std::size_t width = shape.width();
  std::vector<float> scratch, piece(kLine * count);
  for (std::size_t top = 0; top < shape.columns; top += kLine) {
    const std::size_t height = std::min(kLine, shape.columns - top);
    const FloatSource::Matrix matrix =
        source.matrix(top * shape.rows + first, height, count, shape.rows, scratch);
    for (std::size_t r = 0; r < height; ++r)
      std::memcpy(piece.data() + r * count, matrix.data + r * matrix.stride * sizeof(float),
                  count * sizeof(float));
    // A whole cache line at a time: rows that are a power of two apart share the places of a cache.
    for (std::size_t c = 0; c < count; ++c) {
      float* const to = values + c * width + top;
      for (std::size_t r = 0; r < height; ++r) to[r] = piece[r * count + c];
    }
  }
}

}  // namespace

void read_rows(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
               float* values) {
  const std::size_t width = shape.width();
  if (shape.is_transposed) {
    read_columns(source, shape, first, count, values);
  } else {
    std::vector<float> scratch;
    for (std::size_t r = 0; r < count; ++r) {
      const std::byte* row = source.values((first + r) * shape.columns, shape.columns, scratch);
      std::memcpy(values + r * width, row, shape.columns * sizeof(float));
    }
  }
  for (std::size_t r = 0; r < count; ++r)
    std::fill(values + r * width + shape.columns, values + (r + 1) * width, 0.0F);
}

std::size_t stripe_count(const BlockRows& shape) {
  return (shape.rows + stripe_rows(shape) - 1) / stripe_rows(shape);
}

void for_each_stripe(const FloatSource& source, const BlockRows& shape, const ForEach& for_each,
                     const VisitRows& run) {
  const std::size_t step = stripe_rows(shape);
  // Stripes side by side read the same pages of a source that is read down its columns: those are let go
  // when several pages' worth of columns are done.
  const std::size_t pages = std::max<std::size_t>(1, kResident / (kPanelWidth * shape.columns));
  const std::size_t per_release = std::max<std::size_t>(1, pages * kPanelWidth / step);
  for_each(stripe_count(shape), [&](std::size_t stripe) {
    const std::size_t first = stripe * step, count = std::min(step, shape.rows - first);
    run(stripe, first, count);
    if (!shape.is_transposed) {
      source.release(first * shape.columns, count * shape.columns);
    } else if ((stripe + 1) % per_release == 0) {
      source.release();
    }
  });
  source.release();
}

void pack_codes(const std::uint8_t* codes, std::size_t n, unsigned bits, std::uint8_t* packed) {
  if (bits == 8) {
    std::copy_n(codes, n, packed);
  } else if (bits == 4) {
    kernels::pack_pairs(codes, n, packed);
  } else {
    std::fill_n(packed, (n + kCodesPerByte - 1) / kCodesPerByte, std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
      packed[i / kCodesPerByte] |= static_cast<std::uint8_t>((codes[i] & 3U) << (2 * (i % kCodesPerByte)));
  }
}

void unpack_codes(const std::uint8_t* packed, std::size_t n, unsigned bits, std::uint8_t* codes) {
  if (bits == 8) {
    std::copy_n(packed, n, codes);
  } else if (bits == 4) {
    kernels::unpack_pairs(packed, n, codes);
  } else {
    for (std::size_t i = 0; i < n; ++i)
      codes[i] =
          static_cast<std::uint8_t>(unsigned{packed[i / kCodesPerByte]} >> (2 * (i % kCodesPerByte)) & 3U);
  }
}

}  // namespace ounce::quant
