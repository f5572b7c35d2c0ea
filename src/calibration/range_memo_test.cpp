#include "calibration/calibrators.h"

#include <gtest/gtest.h>

#include <vector>

namespace ounce::calibration {
namespace {

std::vector<float> ramp(int count, float step) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(step * static_cast<float>(i - count / 3));
  return values;
}

TEST(RangeMemo, AnswersLikeTheCalibrators) {
  Statistics statistics;
  statistics.add(ramp(5000, .01F));
  RangeMemo memo;
  for (const CalibrationMethod method :
       {CalibrationMethod::kAuto, CalibrationMethod::kMinMax, CalibrationMethod::kMse,
        CalibrationMethod::kPercentile, CalibrationMethod::kEntropy}) {
    for (int again = 0; again < 2; ++again) {
      const RangeChoice choice = memo.choose(statistics, method, {}, 99.9);
      const ValueRange expected = choose_range(statistics, method, {}, 99.9);
      EXPECT_EQ(choice.range.low, expected.low);
      EXPECT_EQ(choice.range.high, expected.high);
      EXPECT_EQ(choice.noise, predicted_error(statistics, expected));
      EXPECT_EQ(choice.signal, mean_square(statistics));
      EXPECT_NE(choice.method, CalibrationMethod::kAuto);
    }
  }
}

TEST(RangeMemo, TellsQuestionsApart) {
  Statistics statistics;
  statistics.add(ramp(5000, .01F));
  RangeMemo memo;
  const auto high = [&](double percentile) {
    return memo.choose(statistics, CalibrationMethod::kPercentile, {}, percentile).range.high;
  };
  EXPECT_GT(high(99.99), high(90));
  const double few = memo.choose(statistics, CalibrationMethod::kMinMax, {16, false}, 99.99).noise;
  EXPECT_GT(few, memo.choose(statistics, CalibrationMethod::kMinMax, {256, false}, 99.99).noise);
}

TEST(RangeMemo, NoticesThatMoreWasSeen) {
  Statistics statistics;
  statistics.add(ramp(5000, .01F));
  RangeMemo memo;
  const double before = memo.choose(statistics, CalibrationMethod::kMinMax, {}, 99.99).range.high;
  statistics.add(ramp(5000, .02F));
  EXPECT_GT(memo.choose(statistics, CalibrationMethod::kMinMax, {}, 99.99).range.high, before);
}

}  // namespace
}  // namespace ounce::calibration
