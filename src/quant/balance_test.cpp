#include "quant/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ounce::quant {
namespace {

using kernels::Affine;
using kernels::CodeRange;

struct BalancedCase {
  std::vector<float> values;
  std::vector<Affine> affine;
  std::vector<std::uint8_t> nearest, balanced;
};

BalancedCase balanced_case(std::size_t runs, std::size_t n, std::size_t kernel, CodeRange range, float zero,
                           unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.1F, 1.0F);
  BalancedCase result;
  result.values.resize(runs * n);
  for (float& value : result.values) value = normal(random);
  const auto* x = reinterpret_cast<const std::byte*>(result.values.data());
  for (std::size_t r = 0; r < runs; ++r) {
    float largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(result.values[r * n + i]));
    const float scale = largest / (static_cast<float>(range.hi) - zero);
    result.affine.push_back({scale, 1 / scale, zero});
  }
  result.nearest.resize(runs * n);
  kernels::quantize_runs(x, runs, n, result.affine.data(), range, result.nearest.data());
  result.balanced = result.nearest;
  balance_runs(x, runs, n, kernel, result.affine.data(), range, result.balanced.data());
  return result;
}

int as_int(std::uint8_t code, CodeRange range) {
  return range.lo < 0 ? static_cast<std::int8_t>(code) : code;
}

// The sum of the errors of [first, first + n), in steps.
double lack(const BalancedCase& c, const std::vector<std::uint8_t>& codes, std::size_t n, std::size_t first,
            std::size_t count, CodeRange range) {
  double total = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    const Affine& affine = c.affine[i / n];
    total += static_cast<double>(c.values[i] * affine.inverse -
                                 (static_cast<float>(as_int(codes[i], range)) - affine.zero));
  }
  return total;
}

TEST(Balance, ErrorsOfAChannelSumToAtMostHalfAStep) {
  for (const std::size_t n : {2U, 9U, 64U, 1000U, 5000U}) {
    const CodeRange range{-127, 127};
    const BalancedCase c = balanced_case(20, n, 1, range, 0, static_cast<unsigned>(n));
    for (std::size_t r = 0; r < 20; ++r)
      EXPECT_LE(std::abs(lack(c, c.balanced, n, r * n, n, range)), 0.501) << n;
  }
}

TEST(Balance, ErrorsOfAKernelStayBelowOneStepAndAHalf) {
  const CodeRange range{-127, 127};
  const std::size_t kernel = 9, n = 9 * 32;
  const BalancedCase c = balanced_case(16, n, kernel, range, 0, 7);
  for (std::size_t at = 0; at < c.values.size(); at += kernel) {
    EXPECT_LE(std::abs(lack(c, c.balanced, n, at, kernel, range)),
              1.501);  // half a step, plus one for the channel
  }
}

TEST(Balance, CodesMoveByOneAtMostTwiceAndStayInRange) {
  for (const CodeRange range : {CodeRange{-127, 127}, CodeRange{0, 15}, CodeRange{-8, 7}}) {
    const float zero = range.lo < 0 ? 0.0F : 8.0F;
    const BalancedCase c = balanced_case(30, 96, 3, range, zero, 11);
    for (std::size_t i = 0; i < c.nearest.size(); ++i) {
      const int moved = as_int(c.balanced[i], range) - as_int(c.nearest[i], range);
      EXPECT_LE(std::abs(moved), 1);
      EXPECT_GE(as_int(c.balanced[i], range), range.lo);
      EXPECT_LE(as_int(c.balanced[i], range), range.hi);
    }
  }
}

TEST(Balance, SquaredErrorGrowsByLessThanAnEighth) {
  const CodeRange range{-127, 127};
  const BalancedCase c = balanced_case(50, 1024, 1, range, 0, 3);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    before += std::pow(lack(c, c.nearest, 1024, i, 1, range), 2);
    after += std::pow(lack(c, c.balanced, 1024, i, 1, range), 2);
  }
  EXPECT_LT(after, before * 1.125);
}

TEST(Balance, LeavesExactValuesAlone) {
  std::vector<float> values = {1, 2, 3, -4, 5, 0};
  std::vector<std::uint8_t> codes = {1, 2, 3, static_cast<std::uint8_t>(-4), 5, 0};
  const auto before = codes;
  const Affine affine{1, 1, 0};
  balance_runs(reinterpret_cast<const std::byte*>(values.data()), 1, values.size(), 3, &affine, {-127, 127},
               codes.data());
  EXPECT_EQ(codes, before);
}

}  // namespace
}  // namespace ounce::quant
