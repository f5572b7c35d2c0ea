#include "measure/rounds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace ounce::measure {
namespace {

using testing::Each;
using testing::ElementsAre;

Latency latency_of(const std::vector<double>& seconds) {
  CallTimes times;
  for (const double one : seconds) times.add(one);
  return times.latency();
}

TEST(LatencyTest, PercentilesAreCallsThatWereMade) {
  std::vector<double> seconds(200);
  std::iota(seconds.rbegin(), seconds.rend(), 1);
  const Latency latency = latency_of(seconds);
  EXPECT_EQ(latency.calls, 200U);
  EXPECT_EQ(latency.mean, 100.5);
  EXPECT_EQ(latency.p50, 100);
  EXPECT_EQ(latency.p90, 180);
  EXPECT_EQ(latency.p99, 198);
  EXPECT_EQ(latency.min, 1);
}

TEST(LatencyTest, QuantilesGoFromTheFastestCallToTheSlowest) {
  std::vector<double> seconds(1000);
  std::iota(seconds.rbegin(), seconds.rend(), 1);
  const Latency latency = latency_of(seconds);
  ASSERT_EQ(latency.quantiles.size(), 101U);
  EXPECT_EQ(latency.quantiles.front(), 1);
  EXPECT_EQ(latency.quantiles[50], latency.p50);
  EXPECT_EQ(latency.quantiles.back(), 1000);
  EXPECT_TRUE(std::is_sorted(latency.quantiles.begin(), latency.quantiles.end()));
  EXPECT_TRUE(latency_of({}).quantiles.empty());
}

TEST(LatencyTest, OneCallIsEveryPercentileAndNoneIsNothing) {
  EXPECT_EQ(latency_of({3}).p50, 3);
  EXPECT_EQ(latency_of({3}).p99, 3);
  EXPECT_EQ(latency_of({}).calls, 0U);
}

// Rounds on a machine whose speed wanders, and two things that share its moods.
struct Series {
  std::vector<double> base, other;
};

Series series(double ratio, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> mood(0, 0.3), own(0, 0.02);
  Series made;
  for (int i = 0; i < 200; ++i) {
    const double moment = mood(random);
    made.base.push_back(moment * own(random));
    made.other.push_back(moment * own(random) / ratio);
  }
  return made;
}

TEST(SpeedUpTest, AKnownRatioIsInsideTheInterval) {
  for (const double ratio : {0.5, 0.9, 1.1, 3.0}) {
    const Series made = series(ratio, 3);
    const SpeedUp found = speed_up(made.base, made.other);
    EXPECT_NEAR(found.ratio, ratio, 0.01 * ratio);
    EXPECT_LE(found.low, ratio);
    EXPECT_GE(found.high, ratio);
    EXPECT_LT(found.high - found.low, 0.02 * ratio);
    EXPECT_TRUE(found.is_measurable);
  }
}

TEST(SpeedUpTest, EqualSeriesAreNotMeasurable) {
  const Series made = series(1, 4);
  const SpeedUp same = speed_up(made.base, made.base), alike = speed_up(made.base, made.other);
  EXPECT_EQ(same.ratio, 1);
  EXPECT_FALSE(same.is_measurable);
  EXPECT_NEAR(alike.ratio, 1, 0.01);
  EXPECT_FALSE(alike.is_measurable);
}

TEST(SpeedUpTest, LessThanAHundredthIsNotMeasurableHoweverSure) {
  const std::vector<double> base(100, 1.005), other(100, 1);
  EXPECT_GT(speed_up(base, other).low, 1);
  EXPECT_FALSE(speed_up(base, other).is_measurable);
}

TEST(SpeedUpTest, WithoutRoundsThereIsNone) {
  EXPECT_EQ(speed_up({}, {}).ratio, 1);
  EXPECT_FALSE(speed_up({}, {}).is_measurable);
}

// Things that take a known time, and a record of who ran.
struct RoundsTest : testing::Test {
  Call call(std::size_t number, double seconds) {
    return [this, number, seconds] {
      order.push_back(number);
      return seconds;
    };
  }
  // Without the calls that warm up, of which there are three each.
  std::vector<std::size_t> timed(std::size_t things) const {
    return {order.begin() + static_cast<std::ptrdiff_t>(3 * things), order.end()};
  }
  std::vector<std::size_t> order;
};

TEST_F(RoundsTest, WarmsUpAndInterleavesInAnOrderThatRotates) {
  RoundOptions options;
  options.calls = 4;
  const Rounds rounds = run_rounds({call(0, 1), call(1, 2), call(2, 3)}, options);
  EXPECT_THAT(timed(3), ElementsAre(0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2));
  EXPECT_EQ(rounds.count, 4U);
  EXPECT_EQ(rounds.calls[1].latency().calls, 4U);
  EXPECT_EQ(rounds.calls[1].latency().mean, 2);
  EXPECT_THAT(rounds.medians[2], ElementsAre(3, 3, 3, 3));
}

TEST_F(RoundsTest, CallsAsOftenAsItIsTold) {
  for (const std::uint64_t calls : {1U, 99U, 100U, 101U, 150U, 1234U}) {
    RoundOptions options;
    options.calls = calls;
    const Rounds rounds = run_rounds({call(0, 1), call(1, 1)}, options);
    EXPECT_EQ(rounds.calls[0].latency().calls, calls);
    EXPECT_EQ(rounds.calls[1].latency().calls, calls);
    EXPECT_EQ(rounds.medians[0].size(), rounds.count);
    EXPECT_LE(rounds.count, 100U);
  }
}

TEST_F(RoundsTest, RoundsFillTheTimeAskedFor) {
  RoundOptions options;
  options.seconds = 2;
  const Rounds rounds = run_rounds({call(0, 0.05), call(1, 0.1)}, options);
  EXPECT_EQ(rounds.count, 20U);  // of the slower thing
  options.seconds = 0;
  EXPECT_EQ(run_rounds({call(0, 0.05)}, options).count, 10U);  // fewer tell nothing
}

TEST_F(RoundsTest, ADeadlineKeepsTheCompletedRounds) {
  RoundOptions options;
  options.calls = 40;
  options.deadline_seconds = 1e-9;  // has passed when the first round ends
  const Rounds rounds = run_rounds({call(0, 1), call(1, 2)}, options);
  EXPECT_EQ(rounds.count, 1U);
  EXPECT_EQ(rounds.medians[0].size(), 1U);
  EXPECT_EQ(rounds.medians[1].size(), 1U);
  EXPECT_EQ(rounds.calls[0].latency().calls, 1U);
}

TEST_F(RoundsTest, AMedianForgetsAnOutlier) {
  int count = 0;
  RoundOptions options;
  options.calls = 300;
  const Rounds rounds = run_rounds({[&] { return ++count % 3 == 0 ? 50.0 : 1.0; }}, options);
  EXPECT_THAT(rounds.medians[0], Each(1));
  EXPECT_NEAR(rounds.calls[0].latency().mean, (200 * 1.0 + 100 * 50) / 300, 1e-9);
}

TEST(CallTimesTest, OfManyCallsAllCountAndSpreadOnesAreKept) {
  CallTimes times;
  const std::uint64_t count = 3'000'000;
  for (std::uint64_t i = 0; i < count; ++i) times.add(static_cast<double>(i));
  const Latency latency = times.latency();
  EXPECT_EQ(latency.calls, count);
  EXPECT_EQ(latency.min, 0);
  EXPECT_NEAR(latency.mean, 1'499'999.5, 1);
  EXPECT_NEAR(latency.p50, 1'500'000, 10);
  EXPECT_NEAR(latency.p99, 2'970'000, 10);
}

TEST_F(RoundsTest, TellsHowFarItIs) {
  std::vector<double> shares;
  RoundOptions options;
  options.calls = 4;
  options.progress = [&](double share) { shares.push_back(share); };
  run_rounds({call(0, 1)}, options);
  EXPECT_THAT(shares, ElementsAre(0.25, 0.5, 0.75, 1));
}

}  // namespace
}  // namespace ounce::measure
