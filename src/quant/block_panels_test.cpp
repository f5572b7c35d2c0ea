#include "quant/blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace ounce::quant {
namespace {

using kernels::kPanelBlocks;

std::vector<float> counted_values(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

TEST(BlockPanels, ShowEveryValueOnceAndZerosBeyond) {
  for (const bool is_transposed : {false, true}) {
    for (const std::size_t columns : {16U, 77U, 300U}) {
      constexpr std::size_t kRows = 41;
      const std::vector<float> values = counted_values(kRows * columns);
      const BlockRows shape{kRows, columns, 32, is_transposed, true};
      const FloatSource source({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)},
                               FloatType::kFloat32);
      std::vector<int> seen(values.size());
      for_each_panel(source, shape, 3, 37, [&](const PanelPlace& place, const float* x) {
        for (std::size_t i = 0; i < shape.block; ++i) {
          for (std::size_t r = 0; r < kPanelBlocks; ++r) {
            const std::size_t row = place.row + r, column = place.block * shape.block + i;
            const bool exists = r < place.rows && column < columns;
            const std::size_t at = is_transposed ? column * kRows + row : row * columns + column;
            EXPECT_EQ(x[i * kPanelBlocks + r], exists ? values[at] : 0);
            if (exists) ++seen[at];
          }
        }
      });
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const std::size_t row = is_transposed ? i % kRows : i / columns;
        EXPECT_EQ(seen[i], row >= 3 && row < 40 ? 1 : 0);
      }
    }
  }
}

// Compares with packing rows one by one.
TEST(BlockPanels, CodesArePackedAsRowsAre) {
  for (const unsigned bits : {2U, 4U, 8U}) {
    for (const bool is_padded : {true, false}) {
      const BlockRows shape{20, 40, 16, false, is_padded};
      std::vector<std::uint8_t> packed(shape.code_bytes(bits)), wanted(packed.size());
      const auto code = [&](std::size_t row, std::size_t column) {
        return static_cast<std::uint8_t>(column < 40 ? (row * 7 + column * 3) % (1U << bits) : 0);
      };
      for (std::size_t row = 0; row < shape.rows; row += kPanelBlocks) {
        for (std::size_t block = 0; block < shape.blocks(); ++block) {
          const PanelPlace place{row, std::min(kPanelBlocks, shape.rows - row), block};
          std::vector<std::uint8_t> codes(shape.block * kPanelBlocks), back(codes.size());
          for (std::size_t i = 0; i < shape.block; ++i) {
            for (std::size_t r = 0; r < place.rows; ++r)
              codes[i * kPanelBlocks + r] = code(row + r, block * shape.block + i);
          }
          std::uint8_t* const at = packed.data() + row * shape.row_bytes(bits);
          pack_panel(codes.data(), shape, place, bits, at);
          unpack_panel(at, shape, place, bits, back.data());
          EXPECT_EQ(codes, back);
        }
      }
      for (std::size_t row = 0; row < shape.rows; ++row) {
        std::vector<std::uint8_t> codes(is_padded ? shape.width() : shape.columns);
        for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code(row, i);
        pack_codes(codes.data(), codes.size(), bits, wanted.data() + row * shape.row_bytes(bits));
      }
      EXPECT_EQ(packed, wanted);
    }
  }
}

}  // namespace
}  // namespace ounce::quant
