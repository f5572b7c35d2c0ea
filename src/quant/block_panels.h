// Rows of blocks as kernels/panel_search.h takes them: sixteen rows side by side, a block at a
// time.
//
//   for_each_panel(source, rows, first, count, [&](const PanelPlace& place, const float* x) { … });
//
// Most weights are stored that way already: their rows are the source's columns, and nothing is turned but
// the codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/thread_pool.h"
#include "kernels/panel_search.h"
#include "quant/float_source.h"

namespace ounce::quant {

// A weight as kernels for few bits see it (MatMulNBits, GatherBlockQuantized): rows that are summed over, or
// looked up, cut into blocks that share a scale.
//
//   MatMul [K, N]                        N rows of K, which stand as columns in the source
//   Gemm with transB, a table [N, K]     N rows of K as they are
//
//   codes   [rows, blocks, block · bits / 8]   the first code in the lowest bits; rows end with the zero code
//   scales  [rows, blocks]
//   zeros   [rows, bytes of `blocks` codes]    of asymmetric codes, packed like them

struct BlockRows {
  std::size_t rows = 0, columns = 0, block = 0;
  bool is_transposed = false;  // the source is [columns, rows]
  bool is_padded = true;       // rows are filled up to whole blocks; a table's are not

  std::size_t blocks() const { return (columns + block - 1) / block; }
  std::size_t groups() const { return rows * blocks(); }
  std::size_t width() const { return blocks() * block; }  // of a row with whole blocks
  std::size_t row_bytes(unsigned bits) const { return ((is_padded ? width() : columns) * bits + 7) / 8; }
  std::size_t code_bytes(unsigned bits) const { return rows * row_bytes(bits); }
  std::size_t zero_row_bytes(unsigned bits) const { return (blocks() * bits + 7) / 8; }
  std::size_t zero_bytes(unsigned bits) const { return rows * zero_row_bytes(bits); }
};

// All rows in stripes, the same whatever the number of threads. They are columns of most sources: so many
// that those are read in long pieces.
inline constexpr std::size_t kStripeRows = 512;
using VisitRows = std::function<void(std::size_t stripe, std::size_t first, std::size_t count)>;
std::size_t stripe_count(const BlockRows& shape);
void for_each_stripe(const FloatSource& source, const BlockRows& shape, const ForEach& for_each,
                     const VisitRows& run);

// Codes of 2, 4 or 8 bits, one a byte <-> as the kernels take them. `packed` has (n · bits + 7) / 8 bytes.
void pack_codes(const std::uint8_t* codes, std::size_t n, unsigned bits, std::uint8_t* packed);
void unpack_codes(const std::uint8_t* packed, std::size_t n, unsigned bits, std::uint8_t* codes);

// The rows [row, row + rows) of a block.
struct PanelPlace {
  std::size_t row, rows, block;
};

// Shows the panels of rows [first, first + count). Value i of row place.row + r is x[i * kPanelBlocks + r];
// what is beyond the last column, and beyond the last row, is zero.
using VisitPanel = std::function<void(const PanelPlace& place, const float* x)>;
void for_each_panel(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                    const VisitPanel& visit);

// Codes of a panel, one a byte, <-> their places in packed rows, of which the first is place.row.
void pack_panel(const std::uint8_t* codes, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                std::uint8_t* packed);
void unpack_panel(const std::uint8_t* packed, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                  std::uint8_t* codes);

}  // namespace ounce::quant
