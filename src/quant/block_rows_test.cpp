#include "quant/blocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/thread_pool.h"

namespace ounce::quant {
namespace {

FloatSource source_of(const std::vector<float>& values) {
  return {{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}, FloatType::kFloat32};
}

TEST(BlockRows, StripesCoverEveryRowOnce) {
  for (const std::size_t columns : {1U, 100U, 7000U}) {
    const std::vector<float> values(1301 * columns);
    const BlockRows shape{1301, columns, 32, true, true};
    std::vector<int> seen(1301);
    std::size_t stripes = 0;
    for_each_stripe(source_of(values), shape, run_serially,
                    [&](std::size_t, std::size_t first, std::size_t count) {
                      for (std::size_t r = first; r < first + count; ++r) ++seen[r];
                      ++stripes;
                    });
    EXPECT_EQ(stripes, stripe_count(shape));
    EXPECT_EQ(seen, std::vector<int>(1301, 1));
  }
}

TEST(BlockRows, BytesOfEveryPart) {
  const BlockRows shape{3, 40, 16, true, true};
  EXPECT_EQ(shape.blocks(), 3U);
  EXPECT_EQ(shape.code_bytes(4), 3U * 24);
  EXPECT_EQ(shape.code_bytes(2), 3U * 12);
  EXPECT_EQ(shape.zero_row_bytes(4), 2U);  // three 4-bit values
  EXPECT_EQ(shape.zero_bytes(8), 9U);
  const BlockRows table{3, 40, 16, false, false};
  EXPECT_EQ(table.row_bytes(4), 20U);
}

TEST(BlockRows, FirstCodeStandsInTheLowestBits) {
  const std::vector<std::uint8_t> codes = {1, 2, 3, 0, 2};
  std::vector<std::uint8_t> packed(2);
  pack_codes(codes.data(), codes.size(), 2, packed.data());
  EXPECT_EQ(packed, (std::vector<std::uint8_t>{0b00111001, 0b00000010}));
  packed.resize(3);
  pack_codes(codes.data(), codes.size(), 4, packed.data());
  EXPECT_EQ(packed, (std::vector<std::uint8_t>{0x21, 0x03, 0x02}));
}

TEST(BlockRows, CodesComeBackFromEveryWidth) {
  for (const unsigned bits : {2U, 4U, 8U}) {
    std::vector<std::uint8_t> codes(37);
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<std::uint8_t>((i * 7) & ((1U << bits) - 1));
    std::vector<std::uint8_t> packed((codes.size() * bits + 7) / 8), back(codes.size());
    pack_codes(codes.data(), codes.size(), bits, packed.data());
    unpack_codes(packed.data(), codes.size(), bits, back.data());
    EXPECT_EQ(back, codes) << bits;
  }
}

}  // namespace
}  // namespace ounce::quant
