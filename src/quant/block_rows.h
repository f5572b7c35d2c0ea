// A weight as kernels for few bits see it (MatMulNBits, GatherBlockQuantized): rows that are summed over, or
// looked up, cut into blocks that share a scale.
//
//   MatMul [K, N]                        N rows of K, which stand as columns in the source
//   Gemm with transB, a table [N, K]     N rows of K as they are
//
//   codes   [rows, blocks, block · bits / 8]   the first code in the lowest bits; rows end with the zero code
//   scales  [rows, blocks]
//   zeros   [rows, bytes of `blocks` codes]    of asymmetric codes, packed like them
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/thread_pool.h"
#include "quant/float_source.h"

namespace ounce::quant {

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

}  // namespace ounce::quant
