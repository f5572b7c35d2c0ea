// Block-wise quantization of weights for low-bit kernels (MatMulNBits, GatherBlockQuantized): rows, the scale
// and zero point of each block, and packed values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/thread_pool.h"
#include "kernels/affine.h"
#include "kernels/panel_search.h"
#include "quant/float_source.h"
#include "quant/linear.h"

namespace ounce::quant {

// Rows that are summed over, or looked up, split into blocks that share a scale.
//
//   MatMul [K, N]                        N rows of K, the columns of the source
//   Gemm with transB, a table [N, K]     N rows of K, the rows of the source
//
//   codes   [rows, blocks, block · bits / 8]   first value in the lowest bits, rows padded with zero points
//   scales  [rows, blocks]
//   zeros   [rows, bytes of `blocks` values]   for asymmetric quantization, packed in the same way
struct BlockRows {
  std::size_t rows = 0, columns = 0, block = 0;
  bool is_transposed = false;  // the source is [columns, rows]
  bool is_padded = true;       // rows are padded to whole blocks; rows of tables are not

  std::size_t blocks() const { return (columns + block - 1) / block; }
  std::size_t groups() const { return rows * blocks(); }
  std::size_t width() const { return blocks() * block; }  // of a padded row
  std::size_t row_bytes(unsigned bits) const { return ((is_padded ? width() : columns) * bits + 7) / 8; }
  std::size_t code_bytes(unsigned bits) const { return rows * row_bytes(bits); }
  std::size_t zero_row_bytes(unsigned bits) const { return (blocks() * bits + 7) / 8; }
  std::size_t zero_bytes(unsigned bits) const { return rows * zero_row_bytes(bits); }
};

// Splits all rows into stripes, independent of the number of threads. Rows are columns of most sources, so
// stripes are wide enough to read the source in long pieces.
inline constexpr std::size_t kStripeRows = 512;
using VisitRows = std::function<void(std::size_t stripe, std::size_t first, std::size_t count)>;
std::size_t stripe_count(const BlockRows& shape);
void for_each_stripe(const FloatSource& source, const BlockRows& shape, const ForEach& for_each,
                     const VisitRows& run);

// Convert 2-, 4- or 8-bit values between one byte each and the kernels' packing. `packed` has (n · bits + 7)
// / 8 bytes.
void pack_codes(const std::uint8_t* codes, std::size_t n, unsigned bits, std::uint8_t* packed);
void unpack_codes(const std::uint8_t* packed, std::size_t n, unsigned bits, std::uint8_t* codes);

// The rows [row, row + rows) of a block.
struct PanelPlace {
  std::size_t row, rows, block;
};

// Visits the rows [first, first + count) in panels, as kernels/panel_search.h takes them: sixteen rows in
// parallel, one block at a time. Value i of row place.row + r is x[i * kPanelBlocks + r]; values beyond the
// last column and row are zero. In most weights rows are the source's columns, so only the quantized values
// need to be transposed.
using VisitPanel = std::function<void(const PanelPlace& place, const float* x)>;
void for_each_panel(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                    const VisitPanel& visit);

// Convert the values of a panel between one byte each and packed rows, of which the first is place.row.
void pack_panel(const std::uint8_t* codes, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                std::uint8_t* packed);
void unpack_panel(const std::uint8_t* packed, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                  std::uint8_t* codes);

// The format of low-bit kernels for 2, 4 or 8 bits: unsigned, with the zero point in the middle.
LinearFormat nbits_format(unsigned bits, bool is_symmetric);

// Finds the scales and zero points of a panel of blocks of n values. Writes one Affine per block.
//
// 4-bit values range from -8 to 7. The largest value of a block becomes -8 if its scale has the opposite
// sign, so no value is wasted; both signs are tried. The search minimizes Σ h (x - x')² over the block, where
// h is the energy of the input that each value is multiplied with (1 if `energy` is null). For the quantized
// values c of a candidate scale, the best scale is
// candidate scale gives, the best scale is
//
//   scale = Σ h x c / Σ h c²      and the error is      Σ h x² - (Σ h x c)² / Σ h c²
//
// and the values are rounded again with that scale. The results are the same on every CPU.
void find_panel_scales(const float* x, const float* energy, std::size_t n, const LinearFormat& format,
                       ScaleMethod method, kernels::Affine* affine);

struct BlockSearch {
  ScaleMethod method = ScaleMethod::kMse;
  const float* energy = nullptr;  // one per column of the rows; null: all 1
};

// `values` are `rows` rows of `blocks` blocks of `block` values. Writes one Affine per block.
void find_block_scales(const float* values, std::size_t rows, std::size_t blocks, std::size_t block,
                       const LinearFormat& format, const BlockSearch& search, kernels::Affine* affine);

}  // namespace ounce::quant
