#include "quant/block_panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/pack.h"
#include "quant/layout.h"

namespace ounce::quant {
namespace {

using kernels::kPanelBlocks;

constexpr std::size_t kPanelTile = std::size_t{1} << 16;  // values that are read before they are cut: 256 KiB

// The values of a block that the source has.
std::size_t block_columns(const BlockRows& shape, std::size_t block) {
  return std::min(shape.block, shape.columns - block * shape.block);
}

// A tile of whole blocks, read in pieces that are long in memory, is cut into panels.
void show_columns(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                  const VisitPanel& visit) {
  const std::size_t per_tile = std::max<std::size_t>(1, kPanelTile / (count * shape.block));
  std::vector<float> scratch, tile(per_tile * shape.block * count), panel(shape.block * kPanelBlocks);
  for (std::size_t begin = 0; begin < shape.blocks(); begin += per_tile) {
    const std::size_t end = std::min(shape.blocks(), begin + per_tile), top = begin * shape.block;
    const std::size_t height = std::min(shape.columns, end * shape.block) - top;
    const FloatSource::Matrix matrix =
        source.matrix(top * shape.rows + first, height, count, shape.rows, scratch);
    for (std::size_t i = 0; i < height; ++i)
      std::memcpy(tile.data() + i * count, matrix.data + i * matrix.stride * sizeof(float),
                  count * sizeof(float));
    for (std::size_t block = begin; block < end; ++block) {
      const float* const from = tile.data() + (block - begin) * shape.block * count;
      const std::size_t columns = block_columns(shape, block);
      for (std::size_t row = 0; row < count; row += kPanelBlocks) {
        const std::size_t rows = std::min(kPanelBlocks, count - row);
        if (rows < kPanelBlocks || columns < shape.block) std::fill(panel.begin(), panel.end(), 0.0F);
        if (rows == kPanelBlocks) {  // a size that the compiler knows
          for (std::size_t i = 0; i < columns; ++i)
            std::memcpy(panel.data() + i * kPanelBlocks, from + i * count + row,
                        kPanelBlocks * sizeof(float));
        } else {
          for (std::size_t i = 0; i < columns; ++i)
            std::copy_n(from + i * count + row, rows, panel.data() + i * kPanelBlocks);
        }
        visit({first + row, rows, block}, panel.data());
      }
    }
  }
}

void show_rows(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
               const VisitPanel& visit) {
  std::vector<float> scratch, panel(shape.block * kPanelBlocks), row_values(shape.block);
  for (std::size_t row = 0; row < count; row += kPanelBlocks) {
    const std::size_t rows = std::min(kPanelBlocks, count - row);
    for (std::size_t block = 0; block < shape.blocks(); ++block) {
      const std::size_t columns = block_columns(shape, block);
      if (rows < kPanelBlocks || columns < shape.block) std::fill(panel.begin(), panel.end(), 0.0F);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t at = (first + row + r) * shape.columns + block * shape.block;
        std::memcpy(row_values.data(), source.values(at, columns, scratch), columns * sizeof(float));
        for (std::size_t i = 0; i < columns; ++i) panel[i * kPanelBlocks + r] = row_values[i];
      }
      visit({first + row, rows, block}, panel.data());
    }
  }
}

// Where a panel's codes stand in packed rows.
struct PackedPlace {
  PackedPlace(const BlockRows& shape, const PanelPlace& place, unsigned bits)
      : row_bytes(shape.row_bytes(bits)),
        offset(place.block * shape.block * bits / 8),
        bytes(std::min(shape.block * bits / 8, row_bytes - offset)),
        per_byte(8 / bits) {}
  std::size_t row_bytes, offset, bytes;
  unsigned per_byte;
};

// The bytes of sixteen blocks, eight in a word: no code reaches over into its neighbour.
using Sixteen = std::array<std::uint64_t, 2>;
Sixteen load_sixteen(const std::uint8_t* bytes) {
  Sixteen words;
  std::memcpy(words.data(), bytes, sizeof words);
  return words;
}

}  // namespace

void for_each_panel(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                    const VisitPanel& visit) {
  (shape.is_transposed ? show_columns : show_rows)(source, shape, first, count, visit);
}

void pack_panel(const std::uint8_t* codes, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                std::uint8_t* packed) {
  const PackedPlace to(shape, place, bits);
  std::uint8_t joined[kPanelBlocks * kPanelBlocks], turned[kPanelBlocks * kPanelBlocks];
  for (std::size_t first = 0; first < to.bytes; first += kPanelBlocks) {
    const std::size_t bytes = std::min(kPanelBlocks, to.bytes - first);
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      Sixteen sum{};
      for (unsigned k = 0; k < to.per_byte; ++k) {
        const Sixteen next = load_sixteen(codes + ((first + byte) * to.per_byte + k) * kPanelBlocks);
        for (std::size_t half = 0; half < 2; ++half) sum[half] |= next[half] << (bits * k);
      }
      std::memcpy(joined + byte * kPanelBlocks, sum.data(), sizeof sum);
    }
    std::uint8_t* const at = packed + to.offset + first;
    if (bytes == kPanelBlocks && place.rows == kPanelBlocks) {
      kernels::turn_bytes(joined, kPanelBlocks, at, to.row_bytes);
      continue;
    }
    kernels::turn_bytes(joined, kPanelBlocks, turned, kPanelBlocks);
    for (std::size_t r = 0; r < place.rows; ++r)
      std::copy_n(turned + r * kPanelBlocks, bytes, at + r * to.row_bytes);
  }
}

void unpack_panel(const std::uint8_t* packed, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                  std::uint8_t* codes) {
  const PackedPlace from(shape, place, bits);
  const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) * 0x0101010101010101;
  std::uint8_t rows[kPanelBlocks * kPanelBlocks] = {}, turned[kPanelBlocks * kPanelBlocks];
  if (from.bytes * from.per_byte < shape.block)
    std::fill_n(codes, shape.block * kPanelBlocks, std::uint8_t{0});
  for (std::size_t first = 0; first < from.bytes; first += kPanelBlocks) {
    const std::size_t bytes = std::min(kPanelBlocks, from.bytes - first);
    const std::uint8_t* const at = packed + from.offset + first;
    if (bytes == kPanelBlocks && place.rows == kPanelBlocks) {
      kernels::turn_bytes(at, from.row_bytes, turned, kPanelBlocks);
    } else {
      for (std::size_t r = 0; r < place.rows; ++r)
        std::copy_n(at + r * from.row_bytes, bytes, rows + r * kPanelBlocks);
      kernels::turn_bytes(rows, kPanelBlocks, turned, kPanelBlocks);
    }
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      const Sixteen joined = load_sixteen(turned + byte * kPanelBlocks);
      for (unsigned k = 0; k < from.per_byte; ++k) {
        const Sixteen one = {(joined[0] >> (bits * k)) & mask, (joined[1] >> (bits * k)) & mask};
        std::memcpy(codes + ((first + byte) * from.per_byte + k) * kPanelBlocks, one.data(), sizeof one);
      }
    }
  }
}

namespace {

constexpr std::size_t kCodesPerByte = 4;  // of 2 bits

}  // namespace

std::size_t stripe_count(const BlockRows& shape) { return (shape.rows + kStripeRows - 1) / kStripeRows; }

void for_each_stripe(const FloatSource& source, const BlockRows& shape, const ForEach& for_each,
                     const VisitRows& run) {
  // Stripes side by side read the same pages of a source that is read down its columns: those are let go
  // when several pages' worth of columns are done.
  const std::size_t pages = std::max<std::size_t>(1, kResident / (kPanelWidth * shape.columns));
  const std::size_t per_release = std::max<std::size_t>(1, pages * kPanelWidth / kStripeRows);
  for_each(stripe_count(shape), [&](std::size_t stripe) {
    const std::size_t first = stripe * kStripeRows, count = std::min(kStripeRows, shape.rows - first);
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
