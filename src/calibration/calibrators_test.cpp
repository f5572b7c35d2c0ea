#include "calibration/calibrators.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numbers.h"

namespace ounce::calibration {
namespace {

using Method = CalibrationMethod;

// Normally distributed values, like activations before ReLU, and optionally an outlier.
std::vector<float> normal_values(std::size_t count, float outlier = 0) {
  Random random(9);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(std::sqrt(-2 * std::log(1 - random.uniform())) *
                               std::cos(6.283185307 * random.uniform()));
  }
  if (outlier != 0) values[0] = outlier;
  return values;
}

Statistics statistics_of(const std::vector<float>& values) {
  Statistics statistics;
  statistics.add(values);
  return statistics;
}

// The actual mean squared error of quantizing the values with this range.
double real_error(const std::vector<float>& values, const ValueRange& range) {
  const double step = (range.high - range.low) / 255, low = std::round(range.low / step) * step;
  double total = 0;
  for (const float value : values) {
    const double coded = std::clamp(std::round(value / step) * step, low, low + 255 * step);
    total += (value - coded) * (value - coded);
  }
  return total / static_cast<double>(values.size());
}

TEST(CalibratorsTest, EveryRangeHoldsZeroAndStaysInsideOfWhatOccurred) {
  const Statistics statistics = statistics_of({2, 3, 4, 5});
  for (const Method method :
       {Method::kMinMax, Method::kMean, Method::kPercentile, Method::kEntropy, Method::kMse, Method::kAuto}) {
    const ValueRange range = choose_range(statistics, method);
    EXPECT_EQ(range.low, 0);
    EXPECT_GT(range.high, 0);
    EXPECT_LE(range.high, 5.2);
  }
}

TEST(CalibratorsTest, ThePredictedErrorIsTheRealOne) {
  const std::vector<float> values = normal_values(100'000);
  const Statistics statistics = statistics_of(values);
  for (const double end : {0.5, 1.0, 2.0, 3.0, 4.5}) {
    const ValueRange range{-end, end};
    EXPECT_NEAR(predicted_error(statistics, range) / real_error(values, range), 1, 0.1) << end;
  }
}

TEST(CalibratorsTest, AnOutlierDoesNotDecideButForMinMax) {
  const std::vector<float> values = normal_values(200'000, 400);
  const Statistics statistics = statistics_of(values);
  EXPECT_EQ(choose_range(statistics, Method::kMinMax).high, 400);
  EXPECT_LT(choose_range(statistics, Method::kPercentile).high, 6);
  EXPECT_LT(choose_range(statistics, Method::kEntropy).high,
            60);  // the narrowest range of the search is 256 of 2,048 bins
  // An error of 400 once in 200,000 values is a mean squared error of 0.8, so MSE clips less than a
  // percentile.
  const ValueRange least = choose_range(statistics, Method::kMse);
  for (const double other : {0.5, 0.9, 1.1, 2.0}) {
    const ValueRange range{least.low * other, std::min(least.high * other, 400.0)};
    EXPECT_LE(real_error(values, least), real_error(values, range) * 1.1) << other;
  }
}

// Tries every share of each end, in turn.
ValueRange searched(const Statistics& statistics) {
  const auto best = [&](const auto& range_for) {
    double share = 1, least = predicted_error(statistics, range_for(1.0));
    for (int i = 1; i <= 64; ++i) {
      const double tried = std::pow(0.02, i / 64.0), error = predicted_error(statistics, range_for(tried));
      if (!(error < least)) continue;
      least = error;
      share = tried;
    }
    return share;
  };
  const double low = std::min(0.0F, statistics.minimum()), high = std::max(0.0F, statistics.maximum());
  ValueRange range{low, high};
  for (int round = 0; round < 3; ++round) {
    range.high = high * best([&](double share) { return ValueRange{range.low, high * share}; });
    range.low = low * best([&](double share) { return ValueRange{low * share, range.high}; });
  }
  return range;
}

TEST(CalibratorsTest, TheShortSearchFindsWhatTheWholeOneFinds) {
  for (const float outlier : {0.0F, 20.0F, -300.0F}) {
    for (const float shift : {0.0F, 1.5F, -4.0F, 40.0F}) {
      std::vector<float> values = normal_values(20'000, outlier);
      for (float& value : values) value += shift;
      const Statistics statistics = statistics_of(values);
      const ValueRange found = choose_range(statistics, Method::kMse), whole = searched(statistics);
      EXPECT_EQ(found.low, whole.low) << outlier << " " << shift;
      EXPECT_EQ(found.high, whole.high) << outlier << " " << shift;
    }
  }
}

TEST(CalibratorsTest, TheBestIsNeverWorseThanAnyOther) {
  for (const float outlier : {0.0F, 20.0F, 400.0F}) {
    const Statistics statistics = statistics_of(normal_values(50'000, outlier));
    const double best = predicted_error(statistics, choose_best(statistics).range);
    for (const Method method : {Method::kMinMax, Method::kPercentile, Method::kEntropy, Method::kMse})
      EXPECT_LE(best, predicted_error(statistics, choose_range(statistics, method)) * 1.0000001);
  }
}

TEST(CalibratorsTest, ValuesThatNeverVaryOrNeverCameAreSafe) {
  for (const std::vector<float>& values : std::vector<std::vector<float>>{{}, {0, 0, 0}, {3, 3}, {-2}}) {
    const Statistics statistics = statistics_of(values);
    for (const Method method : {Method::kMinMax, Method::kMean, Method::kPercentile, Method::kEntropy,
                                Method::kMse, Method::kAuto}) {
      const ValueRange range = choose_range(statistics, method);
      EXPECT_TRUE(std::isfinite(range.low) && std::isfinite(range.high));
      EXPECT_LE(range.low, 0);
      EXPECT_GE(range.high, 0);
    }
  }
}

TEST(CalibratorsTest, SymmetricCodesCoverBothSides) {
  const Statistics statistics = statistics_of(normal_values(50'000));
  const CodeFormat symmetric{256, true};
  EXPECT_GT(predicted_error(statistics, {0, 4}, CodeFormat{}),
            predicted_error(statistics, {0, 4}, symmetric));
}

}  // namespace
}  // namespace ounce::calibration
