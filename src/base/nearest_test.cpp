#include "base/text.h"

#include <gtest/gtest.h>

namespace ounce {
namespace {

TEST(NearestTest, ATypingErrorIsFound) {
  EXPECT_EQ(nearest("quantise", {"inspect", "quantize"}), "quantize");
  EXPECT_EQ(nearest("sett", {"show", "set"}), "set");
  EXPECT_EQ(nearest("tmue", {"tune"}), "tune");
  EXPECT_EQ(nearest("Y", {"x", "y"}), "y");
}

TEST(NearestTest, AShortWordIsNotTakenForAnother) {
  EXPECT_EQ(nearest("bad", {"std", "crop", "to"}), "");
  EXPECT_EQ(nearest("y", {"x", "calib"}), "");
  EXPECT_EQ(nearest("", {"x"}), "");
}

}  // namespace
}  // namespace ounce
