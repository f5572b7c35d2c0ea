#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/every_target.h"

namespace ounce::kernels {
namespace {

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(MatmulTest, EveryInstructionSetGivesTheBitsOfTheReference) {
  for (const std::size_t rows : {1U, 3U, 4U, 9U})
    for (const std::size_t columns : {1U, 7U, 16U, 37U})
      for (const std::size_t depth : {0U, 1U, 5U, 128U, 300U}) {
        const std::size_t a_stride = depth + 3, b_stride = columns + 2, out_stride = columns + 1;
        const std::vector<float> a = random_floats(rows * a_stride, 1),
                                 b = random_floats((depth + 1) * b_stride, 2);
        std::vector<float> expected(rows * out_stride, -1.0F);
        MatrixProduct product{a.data(), b.data(), expected.data(), rows,      columns,
                              depth,    a_stride, b_stride,        out_stride};
        ref::multiply(product);
        on_every_target([&] {
          std::vector<float> found(rows * out_stride, -1.0F);
          product.out = found.data();
          multiply(product);
          EXPECT_EQ(found, expected) << rows << " x " << columns << " x " << depth;
        });
      }
}

}  // namespace
}  // namespace ounce::kernels
