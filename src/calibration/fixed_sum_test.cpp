#include "calibration/statistics.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::calibration {
namespace {

TEST(FixedSum, OrderDoesNotMatter) {
  FixedSum forward, backward, parts;
  FixedSum half;
  for (int i = 0; i < 1000; ++i) forward.add(1e12 / (i + 1) - 3e8 * i);
  for (int i = 1000; i-- > 0;) backward.add(1e12 / (i + 1) - 3e8 * i);
  for (int i = 0; i < 500; ++i) parts.add(1e12 / (i + 1) - 3e8 * i);
  for (int i = 500; i < 1000; ++i) half.add(1e12 / (i + 1) - 3e8 * i);
  parts.add(half);
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward, parts);
  EXPECT_NE(forward, half);
}

TEST(FixedSum, KeepsItsValueInAFile) {
  for (const double value : {0.0, 1.5, -1.5, -0x1p-60, 0x1p60, -3.25e17, 1e-9}) {
    FixedSum sum;
    sum.add(value);
    EXPECT_EQ(FixedSum::parse(sum.text()), sum) << sum.text();
    EXPECT_NEAR(sum.value(), value, 0x1p-60 + 1e-15 * std::abs(value));
  }
}

TEST(FixedSum, BrokenTextsAreRefused) {
  for (const char* text : {"", "1", "1 ", " 1", "1 2 3", "x 1", "1 x", "1  2"})
    EXPECT_EQ(test::error_of([&] { FixedSum::parse(text); }).code(), ErrorCode::kBadInput) << text;
}

}  // namespace
}  // namespace ounce::calibration
