#include "kernels/range.h"

#include <gtest/gtest.h>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

void expect_same(const std::vector<Range>& got, const std::vector<Range>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i].min), std::bit_cast<std::uint32_t>(want[i].min)) << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i].max), std::bit_cast<std::uint32_t>(want[i].max)) << i;
    ASSERT_EQ(got[i].abs_bits, want[i].abs_bits) << i;
  }
}

TEST(RangeOfRuns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(1);
    for (int round = 0; round < 150; ++round) {
      const std::size_t n = round < 40 ? static_cast<std::size_t>(round) : random.length(2100);
      const std::size_t runs = round % 5 == 0 ? 1 + random.length(6) : 1;
      std::vector<float> rare = awkward_floats();
      if (round % 7 == 0) rare = {kInf, -kInf, kNan, -kNan};
      const WeightsAt x(random.length(7), random.sprinkled(runs * n, rare));
      std::vector<Range> got(runs), want(runs);
      range_of_runs(x.data(), runs, n, got.data());
      ref::range_of_runs(x.data(), runs, n, want.data());
      expect_same(got, want);
    }
  });
}

TEST(RangeOfColumns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(2);
    for (int round = 0; round < 60; ++round) {
      const std::size_t rows = random.length(20);
      const std::size_t cols = round % 10 == 0 ? 2000 + random.length(200) : random.length(100);
      const std::size_t stride = cols + random.length(3);
      std::vector<float> rare = awkward_floats();
      if (round % 7 == 0) rare.push_back(kNan);
      const WeightsAt x(random.length(7), random.sprinkled(rows * stride, rare));
      std::vector<Range> got(cols), want(cols);
      range_of_columns(x.data(), rows, cols, stride, got.data());
      ref::range_of_columns(x.data(), rows, cols, stride, want.data());
      expect_same(got, want);
    }
  });
}

TEST(Range, DoesNotDependOnTheOrderOfMerging) {
  const WeightsAt x(1, {-0.0F, 0.0F, 3.0F, -4.0F});
  Range forward, backward;
  for (std::size_t i = 0; i < 4; ++i) range_of_run(x.data() + i * sizeof(float), 1, forward);
  for (std::size_t i = 4; i-- > 0;) range_of_run(x.data() + i * sizeof(float), 1, backward);
  expect_same({forward}, {backward});
  EXPECT_EQ(forward.min, -4.0F);
  EXPECT_EQ(forward.max, 3.0F);
  EXPECT_EQ(forward.absmax(), 4.0F);
}

TEST(Range, IsEmptyUntilSomethingIsSeen) {
  Range range;
  EXPECT_TRUE(range.empty());
  range_of_run(nullptr, 0, range);
  EXPECT_TRUE(range.empty());
}

TEST(Range, ShowsThatAValueWasNotFinite) {
  on_every_target([] {
    for (const float bad : {kInf, -kInf, kNan, -kNan}) {
      for (std::size_t at = 0; at < 70; ++at) {
        std::vector<float> values(70, 1.0F);
        values[at] = bad;
        Range range;
        range_of_run(WeightsAt(0, values).data(), values.size(), range);
        ASSERT_FALSE(range.finite());
        ASSERT_EQ(range.min, -kInf);
        ASSERT_EQ(range.max, kInf);
      }
    }
  });
}

}  // namespace
}  // namespace ounce::kernels
