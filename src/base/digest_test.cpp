#include "base/digest.h"

#include <gtest/gtest.h>

#include <set>

namespace ounce {
namespace {

TEST(DigestTest, IsTheOneThatToolsPrint) {
  EXPECT_EQ(hex(digest_of("")), "99aa06d3014798d86001c324468d497f");  // xxhsum -H2 of an empty file
}

TEST(DigestTest, ChangesWithEveryByte) {
  std::string bytes(3000, 'x');
  std::set<Digest> seen = {digest_of(bytes)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = 'y';
    EXPECT_TRUE(seen.insert(digest_of(bytes)).second) << i;
  }
  EXPECT_TRUE(seen.insert(digest_of(bytes + '\0')).second);
}

TEST(DigestTest, DependsOnTheOrderOfPieces) {
  const Digest a = digest_of("a"), b = digest_of("b");
  EXPECT_NE(digest_of(std::vector{a, b}), digest_of(std::vector{b, a}));
}

}  // namespace
}  // namespace ounce
