#include "base/text.h"

#include <gtest/gtest.h>

namespace ounce {
namespace {

TEST(ShellWordTest, PlainWordsStayAndOthersAreOneWord) {
  EXPECT_EQ(quoted("val.npz"), "val.npz");
  EXPECT_EQ(quoted("a=w8"), "a=w8");
  EXPECT_EQ(quoted("my data"), "'my data'");
  EXPECT_EQ(quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(quoted("$(rm)"), "'$(rm)'");
  EXPECT_EQ(quoted(""), "''");
}

}  // namespace
}  // namespace ounce
