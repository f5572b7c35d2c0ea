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

// Bit by bit: bit b of value i in part p is bit p · bits + b of the concatenated bytes at position i.
TEST(PackParts, HaveTheirBitsOneBehindTheOther) {
  RandomWeights random(12);
  for (unsigned bits = 1; bits < 8; ++bits) {
    const Packing packing{bits};
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{300}}) {
      std::vector<Bytes> parts;
      Bytes packed(n * packing.bytes()), want(n * packing.bytes());
      for (unsigned part = 0; part < packing.parts(); ++part) {
        parts.push_back(random.bytes(n));
        pack_part(packing, part, parts.back().data(), n, packed.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
          for (unsigned bit = 0; bit < bits; ++bit) {
            const unsigned at = part * bits + bit, is_set = (unsigned{parts.back()[i]} >> bit) & 1U;
            want[at / 8 * n + i] = static_cast<std::uint8_t>(want[at / 8 * n + i] | is_set << at % 8);
          }
        }
      }
      ASSERT_EQ(packed, want) << bits;
      for (unsigned part = 0; part < packing.parts(); ++part) {
        Bytes codes(n);
        unpack_part(packing, part, packed.data(), n, n, codes.data());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(codes[i], parts[part][i] & ((1U << bits) - 1)) << bits;
      }
    }
  }
}

TEST(PackParts, FourBitsAreHalvesOfBytes) {
  const Packing packing{4};
  Bytes packed(3);
  const Bytes low = {1, 2, 3}, high = {4, 5};
  pack_part(packing, 0, low.data(), low.size(), packed.data(), packed.size());
  pack_part(packing, 1, high.data(), high.size(), packed.data(), packed.size());
  EXPECT_EQ(packed, (Bytes{0x41, 0x52, 0x03}));
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
