// Rows of blocks (block_rows.h) as kernels/panel_search.h takes them: sixteen rows side by side, a block at a
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

#include "kernels/panel_search.h"
#include "quant/block_rows.h"
#include "quant/float_source.h"

namespace ounce::quant {

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
