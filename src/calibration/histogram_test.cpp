#include "calibration/statistics.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"

namespace ounce::calibration {
namespace {

std::vector<float> random_values(std::uint64_t seed, std::size_t count, double spread) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>((random.uniform() - 0.5) * std::exp(spread * (random.uniform() - 0.5)));
  return values;
}

TEST(HistogramTest, EveryValueIsInABinThatHoldsIt) {
  const std::vector<float> values = {1, -1, 1.5F, 0.031F, -7e5F, 3e-3F, 0, -0.0F, 65504};
  for (const float value : values) {
    Histogram histogram;
    histogram.add(std::span<const float>(&value, 1));
    const auto bins = histogram.bins();
    ASSERT_EQ(bins.size(), 1U) << value;
    EXPECT_LE(bins[0].low, value);
    EXPECT_GE(bins[0].high, value);
    EXPECT_LE(bins[0].high - bins[0].low, std::fabs(value) / 31) << value;  // as documented
  }
}

TEST(HistogramTest, BinsAreInOrderAndLoseNothing) {
  const std::vector<float> values = random_values(1, 20'001, 20);
  Histogram histogram;
  histogram.add(values);
  EXPECT_EQ(histogram.count(), values.size());
  const auto bins = histogram.bins();
  for (std::size_t i = 1; i < bins.size(); ++i) EXPECT_LE(bins[i - 1].high, bins[i].low) << i;
}

TEST(HistogramTest, FewAndManyValuesAreCountedAlike) {
  const std::vector<float> values = random_values(2, 50'000, 30);
  Histogram at_once, one_by_one;
  at_once.add(values);
  for (const float& value : values) one_by_one.add(std::span<const float>(&value, 1));
  EXPECT_EQ(at_once.numbered_bins(), one_by_one.numbered_bins());
}

TEST(HistogramTest, PartsInAnyOrderAddUpToTheWhole) {
  const std::vector<float> values = random_values(3, 30'000, 30);
  Histogram whole, first, second, third;
  whole.add(values);
  const std::span<const float> all = values;
  third.add(all.subspan(20'000));
  first.add(all.first(5'000));
  second.add(all.subspan(5'000, 15'000));
  second.add(third);
  second.add(first);
  EXPECT_EQ(second.numbered_bins(), whole.numbered_bins());
}

TEST(HistogramTest, TinyValuesAreZeroAndEnormousOnesTheLargest) {
  const std::vector<float> values = {1e-20F, -1e-20F, 3e38F, -3e38F};
  Histogram histogram;
  histogram.add(values);
  EXPECT_EQ(histogram.zeros(), 2U);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.bins().size(), 3U);
}

TEST(HistogramTest, QuantilesAreExactToTheWidthOfTheirBin) {
  std::vector<float> values = random_values(4, 100'000, 6);
  Histogram histogram;
  histogram.add(values);
  std::sort(values.begin(), values.end());
  for (const double share : {0.0001, 0.01, 0.1, 0.25, 0.75, 0.9, 0.99, 0.9999}) {
    const double exact = values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    EXPECT_NEAR(histogram.quantile(share), exact, std::fabs(exact) / 16 + 1e-12) << share;
  }
}

}  // namespace
}  // namespace ounce::calibration
