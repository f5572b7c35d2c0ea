#include "evaluate/timing/rounds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/machine.h"

namespace ounce::evaluate {
namespace {

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

// Slots of a model on a machine whose speed varies.
ModelTimes model_times(const std::vector<double>& slots, double load = 1, bool is_single_threaded = true) {
  ModelTimes times;
  for (const double seconds : slots) {
    SlotTimes slot{{load * seconds}, is_single_threaded ? seconds : 0, (load - 1) * load * seconds};
    times.add(slot);
  }
  return times;
}

SpeedUp speed_up_of(const std::vector<double>& base, const std::vector<double>& other, double load = 1,
                    bool is_single_threaded = true) {
  Rounds rounds;
  rounds.models = {model_times(base, load, is_single_threaded), model_times(other, load, is_single_threaded)};
  return speed_up(rounds, 0, 1);
}

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
    const SpeedUp found = speed_up_of(made.base, made.other);
    EXPECT_NEAR(found.ratio, ratio, 0.01 * ratio);
    EXPECT_LE(found.low, ratio);
    EXPECT_GE(found.high, ratio);
    EXPECT_LT(found.high - found.low, 0.02 * ratio);
    EXPECT_TRUE(found.is_measurable);
  }
}

TEST(SpeedUpTest, EqualSeriesAreNotMeasurable) {
  const Series made = series(1, 4);
  const SpeedUp same = speed_up_of(made.base, made.base), alike = speed_up_of(made.base, made.other);
  EXPECT_EQ(same.ratio, 1);
  EXPECT_FALSE(same.is_measurable);
  EXPECT_NEAR(alike.ratio, 1, 0.01);
  EXPECT_FALSE(alike.is_measurable);
}

TEST(SpeedUpTest, LessThanAHundredthIsNotMeasurableHoweverSure) {
  const std::vector<double> base(100, 1.005), other(100, 1);
  EXPECT_GT(speed_up_of(base, other).low, 1);
  EXPECT_FALSE(speed_up_of(base, other).is_measurable);
}

TEST(SpeedUpTest, WithoutRoundsThereIsNone) {
  EXPECT_EQ(speed_up_of({}, {}).ratio, 1);
  EXPECT_FALSE(speed_up_of({}, {}).is_measurable);
}

// Preemption does not change the CPU time of a call. Long calls are preempted in most slots and short calls
// in few, so wall times would show a ratio of 10 instead of 2.
TEST(SpeedUpTest, CpuTimeDecidesOnABusyMachine) {
  Rounds rounds;
  rounds.models.resize(2);
  for (int i = 0; i < 40; ++i) {
    rounds.models[0].add({{0.010, 0.010}, 0.004, 0});
    rounds.models[1].add({{0.001, 0.001}, 0.002, 0});
  }
  const SpeedUp found = speed_up(rounds, 0, 1);
  EXPECT_DOUBLE_EQ(found.ratio, 2);
  EXPECT_DOUBLE_EQ(found.load, 5);
  EXPECT_TRUE(found.is_reliable);
  EXPECT_TRUE(found.is_measurable);
}

// After each preemption caches are cold, which slows the larger model more. The fast calls of a slot show the
// time without this effect.
TEST(SpeedUpTest, ColdCachesAfterPreemptionsDoNotCount) {
  Rounds rounds;
  rounds.models.resize(2);
  for (int i = 0; i < 40; ++i) {
    SlotTimes base{{}, 0.070, 0}, other{{}, 0.022, 0};
    for (int call = 0; call < 20; ++call) {
      base.calls.push_back(0.010);
      other.calls.push_back(0.005);
      base.pieces.push_back(call % 4 == 0 ? 0.002 : 0.004);
      other.pieces.push_back(call % 4 == 0 ? 0.0012 : 0.001);
    }
    rounds.models[0].add(base);
    rounds.models[1].add(other);
  }
  EXPECT_DOUBLE_EQ(speed_up(rounds, 0, 1).ratio, 2);
}

TEST(SpeedUpTest, ABusyMachineWidensTheInterval) {
  const std::vector<double> base(100, 1.04), other(100, 1);
  EXPECT_TRUE(speed_up_of(base, other).is_measurable);
  const SpeedUp busy = speed_up_of(base, other, 3);
  EXPECT_TRUE(busy.is_reliable);
  EXPECT_LT(busy.low, 1);
  EXPECT_GT(busy.high, 1.09);
  EXPECT_FALSE(busy.is_measurable);
}

TEST(SpeedUpTest, SeveralThreadsOnABusyMachineGiveNoRatio) {
  const std::vector<double> base(100, 3), other(100, 1);
  EXPECT_TRUE(speed_up_of(base, other, 1, false).is_measurable);
  const SpeedUp busy = speed_up_of(base, other, 1.5, false);
  EXPECT_FALSE(busy.is_reliable);
  EXPECT_FALSE(busy.is_measurable);
}

TEST(SlotTimesTest, PiecesHaveOneLongCallOrManyShortOnes) {
  const auto spend = [](double seconds) {
    const double start = thread_cpu_seconds();
    while (thread_cpu_seconds() - start < seconds) {
    }
  };
  const SlotTimes many = runtime::time_slot(300, true, [&] { spend(1e-5); });
  EXPECT_LE(many.pieces.size(), 60U);  // ten calls per piece, or fewer if calls are interrupted
  for (const double piece : many.pieces) EXPECT_GE(piece, 0.9e-5);
  const SlotTimes few = runtime::time_slot(3, true, [&] { spend(1e-3); });
  EXPECT_EQ(few.pieces.size(), 3U);
  EXPECT_EQ(runtime::time_slot(1, true, [] {}).pieces.size(), 1U);
  EXPECT_TRUE(runtime::time_slot(2, false, [] {}).pieces.empty());
}

TEST(ModelTimesTest, LoadIsUnknownWhereNothingTells) {
  ModelTimes times;
  times.add({{1}, 0, -1});
  EXPECT_EQ(times.load(), 0);
  EXPECT_EQ(times.latency().cpu, 0);
}

// Models with a known run time, and a record of the order of runs.
struct RoundsTest : testing::Test {
  Slot slot(std::size_t number, double seconds) {
    return [this, number, seconds](std::uint64_t runs) {
      order.insert(order.end(), runs, number);
      return SlotTimes{std::vector<double>(runs, seconds), static_cast<double>(runs) * seconds, 0};
    };
  }
  // The order of runs without the three warm-up calls of each model.
  std::vector<std::size_t> timed(std::size_t things) const {
    return {order.begin() + static_cast<std::ptrdiff_t>(3 * things), order.end()};
  }
  std::vector<std::size_t> order;
};

TEST_F(RoundsTest, WarmsUpAndInterleavesInAnOrderThatRotates) {
  RoundOptions options;
  options.calls = 4;
  const Rounds rounds = run_rounds({slot(0, 1), slot(1, 2), slot(2, 3)}, options);
  EXPECT_THAT(timed(3), ElementsAre(0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2));
  EXPECT_EQ(rounds.count, 4U);
  EXPECT_EQ(rounds.models[1].latency().calls, 4U);
  EXPECT_EQ(rounds.models[1].latency().mean, 2);
  EXPECT_EQ(rounds.models[1].latency().cpu, 2);
  EXPECT_THAT(rounds.models[2].slots, ElementsAre(3, 3, 3, 3));
}

TEST_F(RoundsTest, CallsAsOftenAsItIsTold) {
  for (const std::uint64_t calls : {1U, 99U, 100U, 101U, 150U, 1234U}) {
    RoundOptions options;
    options.calls = calls;
    const Rounds rounds = run_rounds({slot(0, 1), slot(1, 1)}, options);
    EXPECT_EQ(rounds.models[0].latency().calls, calls);
    EXPECT_EQ(rounds.models[1].latency().calls, calls);
    EXPECT_EQ(rounds.models[0].slots.size(), rounds.count);
    EXPECT_LE(rounds.count, 100U);
  }
}

TEST_F(RoundsTest, RoundsFillTheTimeAskedFor) {
  RoundOptions options;
  options.seconds = 2;
  const Rounds rounds = run_rounds({slot(0, 0.05), slot(1, 0.1)}, options);
  EXPECT_EQ(rounds.count, 20U);  // determined by the slower model
  options.seconds = 0;
  EXPECT_EQ(run_rounds({slot(0, 0.05)}, options).count, 10U);  // the minimum number of rounds
}

TEST_F(RoundsTest, ShortCallsFillASlotOfTwentyMilliseconds) {
  RoundOptions options;
  options.seconds = 0.2;
  EXPECT_EQ(run_rounds({slot(0, 0.001)}, options).models[0].latency().calls, 10U * 20U);
  // A given number of calls is divided into full slots if that gives at least ten rounds.
  options.calls = 400;
  EXPECT_EQ(run_rounds({slot(0, 0.001)}, options).count, 20U);
  options.calls = 50;
  EXPECT_EQ(run_rounds({slot(0, 0.001)}, options).count, 10U);
}

TEST_F(RoundsTest, ADeadlineKeepsCompletedRounds) {
  RoundOptions options;
  options.seconds = 100;
  options.deadline = 1e-9;
  const Rounds one = run_rounds({slot(0, 1), slot(1, 1)}, options);  // the deadline passes in the first round
  EXPECT_EQ(one.count, 1U);
  EXPECT_EQ(speed_up(one, 0, 1).rounds, 1U);
  EXPECT_FALSE(speed_up(one, 0, 1).is_measurable);
  options.deadline = 1000;
  EXPECT_EQ(run_rounds({slot(0, 1), slot(1, 1)}, options).count, 100U);
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
  run_rounds({slot(0, 1)}, options);
  EXPECT_THAT(shares, ElementsAre(0.25, 0.5, 0.75, 1));
}

}  // namespace
}  // namespace ounce::evaluate
