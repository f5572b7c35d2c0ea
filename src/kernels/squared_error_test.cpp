#include <gtest/gtest.h>

#include <algorithm>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/random_affine.h"

namespace ounce::kernels {
namespace {

std::vector<float> awkward_but_not_overflowing() {
  std::vector<float> values = awkward_floats();
  std::erase_if(values, [](float value) { return value > 1e18F || value < -1e18F; });
  return values;
}

TEST(SquaredErrorRuns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(7);
    for (int round = 0; round < 250; ++round) {
      const std::size_t n = round < 40 ? static_cast<std::size_t>(round) : random.length(2100);
      const std::size_t runs = 1 + random.length(3);
      const std::size_t count = random.length(9);
      const CodeRange range = random_code_range(random);
      std::vector<Affine> candidates = random_affines(random, count * runs, range);
      if (round % 3 == 0) {  // nothing clips: the kernel's fast path
        for (Affine& a : candidates)
          a = {a.scale * 100 + 10, 1 / (a.scale * 100 + 10), static_cast<float>(range.lo + range.hi) / 2};
        for (Affine& a : candidates) a.zero = static_cast<float>(static_cast<int>(a.zero));
      }
      const WeightsAt x(random.length(7), round % 3 == 1
                                              ? random.sprinkled(runs * n, awkward_but_not_overflowing())
                                              : random.normal(runs * n));
      std::vector<double> got(count * runs, 0.25), want(count * runs, 0.25);
      squared_error_runs(x.data(), runs, n, candidates.data(), count, range, got.data());
      ref::squared_error_runs(x.data(), runs, n, candidates.data(), count, range, want.data());
      ASSERT_EQ(got, want) << runs << 'x' << n << " candidates " << count;
    }
  });
}

TEST(SquaredErrorColumns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(8);
    for (int round = 0; round < 60; ++round) {
      const std::size_t rows = round % 4 == 0 ? random.length(600) : random.length(40);
      const std::size_t cols = random.length(round % 4 == 1 ? 300 : 50);
      const std::size_t stride = cols + random.length(3);
      const std::size_t count = random.length(11);
      const CodeRange range = random_code_range(random);
      const std::vector<Affine> candidates = random_affines(random, count * cols, range);
      const WeightsAt x(random.length(7), random.sprinkled(rows * stride, awkward_but_not_overflowing()));
      std::vector<double> got(count * cols, 0.25), want(count * cols, 0.25);
      squared_error_columns(x.data(), rows, cols, stride, candidates.data(), count, range, got.data());
      ref::squared_error_columns(x.data(), rows, cols, stride, candidates.data(), count, range, want.data());
      ASSERT_EQ(got, want) << rows << 'x' << cols << " candidates " << count;
    }
  });
}

TEST(SquaredErrorRuns, MayBeSplitAtBlocks) {
  on_every_target([] {
    RandomWeights random(9);
    const std::size_t n = 3 * kRunBlock + 77;
    const std::vector<Affine> candidates = random_affines(random, 5, {-127, 127});
    const WeightsAt x(1, random.normal(n));
    std::vector<double> whole(5), parts(5);
    squared_error_run(x.data(), n, candidates.data(), 5, {-127, 127}, whole.data());
    squared_error_run(x.data(), kRunBlock, candidates.data(), 5, {-127, 127}, parts.data());
    squared_error_run(x.data() + kRunBlock * sizeof(float), n - kRunBlock, candidates.data(), 3, {-127, 127},
                      parts.data());
    squared_error_run(x.data() + kRunBlock * sizeof(float), n - kRunBlock, &candidates[3], 2, {-127, 127},
                      &parts[3]);
    EXPECT_EQ(whole, parts);
  });
}

TEST(SquaredErrorColumns, MayBeSplitAtRowBlocksAndAnyColumn) {
  on_every_target([] {
    RandomWeights random(10);
    const std::size_t rows = 2 * kRowBlock + 31;
    const std::size_t cols = 75;
    const std::vector<Affine> candidates = random_affines(random, cols, {-127, 127});
    const WeightsAt x(2, random.normal(rows * cols));
    std::vector<double> whole(cols), parts(cols);
    squared_error_columns(x.data(), rows, cols, cols, candidates.data(), 1, {-127, 127}, whole.data());
    for (const auto& [left, right] : {std::pair<std::size_t, std::size_t>{0, 13}, {13, 14}, {14, cols}}) {
      for (const auto& [top, bottom] :
           {std::pair<std::size_t, std::size_t>{0, kRowBlock}, {kRowBlock, rows}}) {
        squared_error_columns(x.data() + (top * cols + left) * sizeof(float), bottom - top, right - left,
                              cols, &candidates[left], 1, {-127, 127}, &parts[left]);
      }
    }
    EXPECT_EQ(whole, parts);
  });
}

TEST(SquaredError, IsNotFiniteWhereAWeightIsNot) {
  on_every_target([] {
    for (const float bad : {kNan, kInf, -kInf}) {
      std::vector<float> values(300, 1.0F);
      values[37] = bad;
      const std::vector<Affine> candidates(4, {1, 1, 0});
      std::vector<double> error(4);
      squared_error_run(WeightsAt(0, values).data(), values.size(), candidates.data(), 4, {-7, 7},
                        error.data());
      for (const double e : error) EXPECT_FALSE(std::isfinite(e));
    }
  });
}

}  // namespace
}  // namespace ounce::kernels
