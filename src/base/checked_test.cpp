#include "base/numbers.h"

#include <gtest/gtest.h>

namespace ounce {
namespace {

TEST(CheckedTest, GivesTheResultOrNothing) {
  EXPECT_EQ(checked_multiply(6, 7), 42U);
  EXPECT_EQ(checked_multiply(UINT64_MAX, 1), UINT64_MAX);
  EXPECT_EQ(checked_multiply(UINT64_MAX, 0), 0U);
  EXPECT_FALSE(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32));
  EXPECT_EQ(checked_add(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_FALSE(checked_add(UINT64_MAX, 1));
}

}  // namespace
}  // namespace ounce
