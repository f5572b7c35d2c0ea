#include "calibration/gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "support/error_of.h"

namespace ounce::calibration {
namespace {

const ForEach kThreads = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
  std::thread even([&] {
    for (std::size_t i = 0; i < steps; i += 2) run(i);
  });
  for (std::size_t i = 1; i < steps; i += 2) run(i);
  even.join();
};

using Values = std::vector<float>;
using Shape = std::vector<std::int64_t>;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Values gaussian(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.5F, 1.0F);
  Values values(n);
  for (float& value : values) value = normal(random);
  return values;
}

// The definition of H, with all rows.
std::vector<std::vector<double>> expected(const Unfolding& unfolding, const Values& values,
                                          const Shape& shape) {
  Unfolded input(unfolding, values, shape);
  const std::size_t k = unfolding.k();
  std::vector<std::vector<double>> all(unfolding.groups(), std::vector<double>(k * k));
  Values rows(k * unfolding.groups());
  for (std::uint64_t row = 0; row < input.rows(); ++row) {
    input.copy_row(row, rows.data(), k);
    for (std::size_t group = 0; group < unfolding.groups(); ++group) {
      const float* const x = rows.data() + group * k;
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j < k; ++j) {
          all[group][i * k + j] +=
              static_cast<double>(x[i]) * static_cast<double>(x[j]) / static_cast<double>(input.rows());
        }
      }
    }
  }
  return all;
}

void expect_sums(const Unfolding& unfolding, const Shape& shape) {
  std::size_t size = 1;
  for (const std::int64_t length : shape) size *= static_cast<std::size_t>(length);
  const Values values = gaussian(size);
  Gram gram(unfolding, kAll);
  gram.add(values, shape, 1, run_serially);
  const auto found = gram.matrices(run_serially);
  const auto wanted = expected(unfolding, values, shape);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t group = 0; group < found.size(); ++group) {
    ASSERT_EQ(found[group].size(), wanted[group].size());
    for (std::size_t i = 0; i < found[group].size(); ++i)
      ASSERT_NEAR(static_cast<double>(found[group][i]), wanted[group][i], 1e-5) << group << ", " << i;
  }
}

TEST(Gram, IsTheMeanOfTheProductsOfAMatrix) {
  for (const std::int64_t k : {1, 7, 16, 63, 64, 65, 130, 200}) {
    expect_sums(Unfolding::of_matrix(k), {2, 170, k});
  }
}

TEST(Gram, IsTheMeanOfTheProductsOfConvolutions) {
  const auto convolution = [](const Convolution& c) { return Unfolding::of_convolution(c); };
  expect_sums(convolution({.channels = 5, .kernel = {3}, .pads = {1, 1}}), {2, 5, 40});
  expect_sums(convolution({.channels = 8, .kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}),
              {2, 8, 15, 14});
  expect_sums(convolution({.channels = 8, .groups = 2, .kernel = {3, 2}, .dilations = {2, 1}}),
              {1, 8, 12, 12});
  expect_sums(convolution({.channels = 30, .groups = 30, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}),
              {2, 30, 9, 9});
  expect_sums(convolution({.channels = 3, .kernel = {2, 3, 3}, .pads = {0, 1, 1, 0, 1, 1}}), {2, 3, 4, 6, 6});
}

TEST(Gram, IsTheSameForAnyThreadsAndBatches) {
  const auto unfolding = Unfolding::of_convolution({.channels = 20, .kernel = {3, 3}, .pads = {1, 1, 1, 1}});
  const Values values = gaussian(std::size_t{6} * 20 * 14 * 14);
  constexpr std::size_t kImage = std::size_t{20} * 14 * 14;
  Gram serial(unfolding, 50), threads(unfolding, 50), single(unfolding, 50);
  serial.add(values, Shape{6, 20, 14, 14}, 6, run_serially);
  threads.add(values, Shape{6, 20, 14, 14}, 6, kThreads);
  for (std::size_t image = 0; image < 6; ++image) {
    single.add(std::span(values).subspan(image * kImage, kImage), Shape{1, 20, 14, 14}, 1, run_serially);
  }
  EXPECT_EQ(serial.rows(), 300U);
  EXPECT_EQ(single.rows(), 300U);
  const auto matrices = serial.matrices(run_serially);
  EXPECT_EQ(matrices, threads.matrices(kThreads));
  EXPECT_EQ(matrices, single.matrices(run_serially));
}

TEST(Gram, TakesRowsFromAllOverASample) {
  // Row r is a one at r and zeros elsewhere: the diagonal shows which rows were used.
  constexpr std::size_t kRows = 64;
  Values values(kRows * kRows);
  for (std::size_t r = 0; r < kRows; ++r) values[r * kRows + r] = 1;
  Gram gram(Unfolding::of_matrix(kRows), 16);
  gram.add(values, Shape{kRows, kRows}, 1, run_serially);
  EXPECT_EQ(gram.rows(), 16U);
  const auto matrix = gram.matrices(run_serially)[0];
  std::size_t gap = 0, largest_gap = 0, taken = 0;
  std::vector<std::size_t> by_column(8);
  for (std::size_t r = 0; r < kRows; ++r) {
    const bool is_taken = matrix[r * kRows + r] != 0;
    gap = is_taken ? 0 : gap + 1;
    largest_gap = std::max(largest_gap, gap);
    if (is_taken) {
      EXPECT_FLOAT_EQ(matrix[r * kRows + r], 1 / 16.0F) << "taken twice";
      ++taken;
      ++by_column[r % 8];
    }
  }
  EXPECT_EQ(taken, 16U);
  EXPECT_LE(largest_gap, 7U);
  for (const std::size_t count : by_column) EXPECT_GT(count, 0U);
}

TEST(Gram, CountsABatchThatCannotBeSharedOutAsOneSample) {
  Gram gram(Unfolding::of_matrix(4), 5);
  gram.add(gaussian(28), Shape{7, 4}, 2, run_serially);
  EXPECT_EQ(gram.rows(), 5U);
  gram.add(gaussian(32), Shape{8, 4}, 2, run_serially);
  EXPECT_EQ(gram.rows(), 13U);
}

TEST(Gram, LeavesOutRowsThatCannotBeSquared) {
  Values values = gaussian(20);
  values[1] = std::numeric_limits<float>::quiet_NaN();
  values[7] = std::numeric_limits<float>::infinity();
  values[9] = -1e30F;
  Gram gram(Unfolding::of_matrix(4), kAll), rest(Unfolding::of_matrix(4), kAll);
  gram.add(values, Shape{5, 4}, 1, run_serially);
  rest.add(std::span(values).subspan(12), Shape{2, 4}, 1, run_serially);
  EXPECT_EQ(gram.rows(), 2U);
  EXPECT_EQ(gram.left_out(), 3U);
  EXPECT_EQ(gram.matrices(run_serially), rest.matrices(run_serially));
}

TEST(Gram, OfTheLargestValuesIsFinite) {
  Gram gram(Unfolding::of_matrix(16), kAll);
  gram.add(Values(std::size_t{600} * 16, 0x1p+56F), Shape{600, 16}, 1, run_serially);
  const auto matrices = gram.matrices(run_serially);
  for (const float value : matrices[0]) EXPECT_EQ(value, 0x1p+112F);
}

TEST(Gram, WithoutRowsIsZero) {
  Gram gram(Unfolding::of_matrix(3), 10);
  gram.add({}, Shape{0, 3}, 0, run_serially);
  EXPECT_EQ(gram.matrices(run_serially)[0], Values(9, 0.0F));
}

TEST(Gram, SaysWhatIsTooLarge) {
  EXPECT_FALSE(Gram::is_too_large(Unfolding::of_matrix(4608)));
  EXPECT_LT(Gram::bytes(Unfolding::of_matrix(4608)), 90'000'000U);
  EXPECT_TRUE(Gram::is_too_large(Unfolding::of_matrix(4609)));
  EXPECT_FALSE(
      Gram::is_too_large(Unfolding::of_convolution({.channels = 4096, .groups = 4096, .kernel = {7, 7}})));
  EXPECT_TRUE(Gram::is_too_large(
      Unfolding::of_convolution({.channels = 1 << 30, .groups = 1 << 30, .kernel = {7, 7}})));
  EXPECT_EQ(test::error_of([] { Gram(Unfolding::of_matrix(1 << 30), 1); }).code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace ounce::calibration
