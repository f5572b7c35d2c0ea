#include "base/text.h"

#include <gtest/gtest.h>

namespace ounce {
namespace {

TEST(Base64, IsAsTheStandardHasIt) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Base64, KnowsItsOwnFromOthers) {
  for (const char* text : {"", "Zg==", "Zm8=", "Zm9v", "//79"}) EXPECT_TRUE(is_base64(text)) << text;
  for (const char* text : {"Z", "Zg=", "Z===", "Zm9v\"", "Zm 9", "<svg", "Zg==Zg=="})
    EXPECT_FALSE(is_base64(text)) << text;
}

}  // namespace
}  // namespace ounce
