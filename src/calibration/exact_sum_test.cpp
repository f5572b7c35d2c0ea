#include "calibration/statistics.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/numbers.h"

namespace ounce::calibration {
namespace {

// Floating-point values of all magnitudes and both signs.
std::vector<float> wild_values(std::size_t count) {
  Random random(5);
  std::vector<float> values;
  while (values.size() < count) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

ExactSum sum_of(const std::vector<float>& values) {
  ExactSum sum;
  for (const float value : values) sum.add(value);
  return sum;
}

TEST(ExactSumTest, OrderDoesNotMatter) {
  std::vector<float> values = wild_values(5000);
  const ExactSum forward = sum_of(values);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(sum_of(values), forward);
  ExactSum left = sum_of({values.begin(), values.begin() + 1234});
  left.add(sum_of({values.begin() + 1234, values.end()}));
  EXPECT_EQ(left, forward);
}

TEST(ExactSumTest, NothingIsLostToLargeNeighbours) {
  EXPECT_EQ(sum_of({1e30F, 1, -1e30F}).value(), 1);
  EXPECT_EQ(sum_of({3e38F, 3e38F, -3e38F, 1e-45F, -3e38F}).value(), static_cast<double>(1e-45F));
  EXPECT_EQ(sum_of({-0.5F, -0.25F}).value(), -0.75);
  EXPECT_EQ(sum_of({}).value(), 0);
  EXPECT_EQ(sum_of({-1, 1}), ExactSum());
}

TEST(ExactSumTest, TextsComeBack) {
  const ExactSum sum = sum_of(wild_values(100));
  EXPECT_EQ(ExactSum::parse(sum.text()), sum);
  for (const char* text : {"", "1", "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0 0 0", "x 0 0 0 0 0 0 0 0 0 0",
                           "-1 0 0 0 0 0 0 0 0 0 0", "100000000 0 0 0 0 0 0 0 0 0 0"})
    EXPECT_THROW(ExactSum::parse(text), Error) << text;
}

}  // namespace
}  // namespace ounce::calibration
