#include "quant/matrix.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace ounce::quant {
namespace {

class OuterProducts : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, std::size_t>> {};

TEST_P(OuterProducts, AreTheSumsInTheOrderOfTheRowsBitForBit) {
  const auto [rows, height, width] = GetParam();
  const std::size_t stride = height + width + 3;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(rows * stride);
  for (float& value : values) value = normal(random);
  const float *a = values.data(), *b = values.data() + height;
  std::vector<float> out(height * width, -1.0F);
  outer_products(a, b, rows, stride, height, width, out.data());
  for (std::size_t i = 0; i < height; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      float sum = 0;
      for (std::size_t r = 0; r < rows; ++r) sum += a[r * stride + i] * b[r * stride + j];
      EXPECT_EQ(out[i * width + j], sum) << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, OuterProducts,
                         testing::Combine(testing::Values(0, 1, 7, 100), testing::Values(4, 16, 64),
                                          testing::Values(8, 16, 24, 32, 56, 64)));

}  // namespace
}  // namespace ounce::quant
