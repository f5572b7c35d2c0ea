#include "kernels/pack.h"

#include <gtest/gtest.h>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(PackPairs, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(11);
    for (std::size_t round = 0; round < 300; ++round) {
      const std::size_t n = round < 150 ? round : random.length(2100);
      const Bytes codes = random.bytes(n);
      Bytes packed((n + 1) / 2), want((n + 1) / 2);
      pack_pairs(codes.data(), n, packed.data());
      ref::pack_pairs(codes.data(), n, want.data());
      ASSERT_EQ(packed, want);
      Bytes nibbles(n), same(n);
      unpack_pairs(packed.data(), n, nibbles.data());
      ref::unpack_pairs(packed.data(), n, same.data());
      ASSERT_EQ(nibbles, same);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(nibbles[i], codes[i] & 15);
      unpack_pairs_signed(packed.data(), n, nibbles.data());
      ref::unpack_pairs_signed(packed.data(), n, same.data());
      ASSERT_EQ(nibbles, same);
    }
  });
}

TEST(PackHalves, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(12);
    for (std::size_t round = 0; round < 300; ++round) {
      const std::size_t n_high = round < 150 ? round : random.length(2100);
      const std::size_t n_low = n_high + round % 2;
      const Bytes low = random.bytes(n_low);
      const Bytes high = random.bytes(n_high);
      Bytes packed(n_low), want(n_low);
      pack_halves(low.data(), n_low, high.data(), n_high, packed.data());
      ref::pack_halves(low.data(), n_low, high.data(), n_high, want.data());
      ASSERT_EQ(packed, want);
      Bytes low_back(n_low), high_back(n_low), low_want(n_low), high_want(n_low);
      unpack_halves(packed.data(), n_low, low_back.data(), high_back.data());
      ref::unpack_halves(packed.data(), n_low, low_want.data(), high_want.data());
      ASSERT_EQ(low_back, low_want);
      ASSERT_EQ(high_back, high_want);
      for (std::size_t i = 0; i < n_high; ++i) ASSERT_EQ(high_back[i], high[i] & 15);
    }
  });
}

TEST(PackPairs, PutsTheFirstElementInTheLowNibble) {
  const Bytes codes = {0x01, 0xf2, 0x0f};
  Bytes packed(2);
  pack_pairs(codes.data(), codes.size(), packed.data());
  EXPECT_EQ(packed, (Bytes{0x21, 0x0f}));
  Bytes back(3);
  unpack_pairs_signed(packed.data(), back.size(), back.data());
  EXPECT_EQ(back, (Bytes{0x01, 0x02, 0xff}));
}

}  // namespace
}  // namespace ounce::kernels
