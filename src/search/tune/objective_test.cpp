#include "search/tune/evaluator.h"

#include <gtest/gtest.h>

namespace ounce::search {
namespace {

TuneTrial trial(double ratio, double speed, double sqnr) {
  TuneTrial made;
  made.ratio = ratio;
  made.bytes = static_cast<std::uint64_t>(ratio * 1e6);
  made.speed_up.ratio = speed;
  made.speed_up.is_measurable = speed < 0.99 || speed > 1.01;
  made.is_slower = is_slower(made.speed_up);
  made.is_timed = true;
  made.sqnr_db = sqnr;
  made.passed = true;
  return made;
}

TEST(ObjectiveTest, BalancedIsTimeTimesBytes) {
  EXPECT_DOUBLE_EQ(cost_of(trial(0.25, 2, 30), Objective::kBalanced), 0.125);
  EXPECT_TRUE(is_better(trial(0.26, 2, 30), trial(0.25, 1, 40), Objective::kBalanced));
}

TEST(ObjectiveTest, BalancedPrefersWhatIsFasterUnlessItIsMuchLarger) {
  const TuneTrial tiny = trial(0.16, 1, 30), mixed = trial(0.28, 1.2, 30), large = trial(0.5, 1.2, 30);
  EXPECT_TRUE(is_better(mixed, tiny, Objective::kBalanced));
  EXPECT_TRUE(is_better(tiny, large, Objective::kBalanced));
  EXPECT_TRUE(is_better(tiny, mixed, Objective::kSize));
}

TEST(ObjectiveTest, LatencyTakesTheSmallerOfEquallyFastOnes) {
  const TuneTrial small = trial(0.25, 2, 30), large = trial(0.5, 2.02, 60);
  EXPECT_TRUE(is_better(small, large, Objective::kLatency));
  EXPECT_FALSE(is_better(large, small, Objective::kLatency));
  EXPECT_TRUE(is_better(trial(0.5, 2.2, 30), small, Objective::kLatency));
}

TEST(ObjectiveTest, SizeTakesTheFasterOfEquallySmallOnes) {
  const TuneTrial fast = trial(0.25, 2, 30), slow = trial(0.25, 1, 60);
  EXPECT_TRUE(is_better(fast, slow, Objective::kSize));
  EXPECT_TRUE(is_better(trial(0.15, 1, 20), fast, Objective::kSize));
}

TEST(ObjectiveTest, QualityDecidesWhereNothingElseDoes) {
  for (const Objective objective : {Objective::kBalanced, Objective::kLatency, Objective::kSize}) {
    EXPECT_TRUE(is_better(trial(0.25, 2, 32), trial(0.25, 2.01, 30), objective));
    EXPECT_FALSE(is_better(trial(0.25, 2, 30), trial(0.25, 2.01, 32), objective));
    EXPECT_FALSE(is_better(trial(0.25, 2, 30.5), trial(0.25, 2, 30), objective));
    EXPECT_FALSE(is_better(trial(0.25, 2, 30), trial(0.25, 2, 30), objective));
  }
}

TEST(ObjectiveTest, OutputsThatCouldNotBeComparedRankBelowAllOthers) {
  const TuneTrial unknown = trial(0.25, 2, std::nan(""));
  EXPECT_TRUE(is_better(trial(0.25, 2, -40), unknown, Objective::kBalanced));
  EXPECT_FALSE(is_better(unknown, trial(0.25, 2, -40), Objective::kBalanced));
  EXPECT_FALSE(is_better(unknown, unknown, Objective::kBalanced));
}

TEST(ObjectiveTest, WhatGainsNothingIsNoAnswer) {
  EXPECT_FALSE(is_eligible(trial(0.999, 1, 60)));
  EXPECT_TRUE(is_eligible(trial(0.98, 1, 60)));
  EXPECT_TRUE(is_eligible(trial(1.01, 1.5, 60)));
  TuneTrial small = trial(1, 1, 60);
  small.memory_ratio = 0.5;
  EXPECT_TRUE(is_eligible(small));
}

TEST(ObjectiveTest, WhatFailsOrIsSlowerIsNoAnswer) {
  EXPECT_TRUE(is_eligible(trial(0.25, 1, 30)));
  EXPECT_FALSE(is_eligible(trial(0.25, 0.9, 30)));
  TuneTrial failed = trial(0.25, 2, 30);
  failed.passed = false;
  EXPECT_FALSE(is_eligible(failed));
  TuneTrial vetoed = trial(0.25, 2, 30);
  vetoed.held_out = false;
  EXPECT_FALSE(is_eligible(vetoed));
  TuneTrial impossible = trial(0.25, 2, 30);
  impossible.problem = "no kernel";
  EXPECT_FALSE(is_eligible(impossible));
}

TEST(ObjectiveTest, TimingsMayErrALittle) {
  SpeedUp speed;
  speed.is_measurable = true;
  speed.ratio = 0.985;
  EXPECT_FALSE(is_slower(speed));
  speed.ratio = 0.97;
  EXPECT_TRUE(is_slower(speed));
  speed.is_measurable = false;
  EXPECT_FALSE(is_slower(speed));
  speed.ratio = 0.94;
  EXPECT_TRUE(is_slower(speed));
}

TEST(ObjectiveTest, TheFrontIsWhatNothingBeats) {
  std::vector<TuneTrial> trials = {trial(0.25, 2, 30), trial(0.26, 1.5, 29), trial(0.15, 1, 20),
                                   trial(0.5, 1, 60), trial(0.1, 0.5, 90)};
  mark_front(trials);
  EXPECT_TRUE(trials[0].is_on_front);
  EXPECT_FALSE(trials[1].is_on_front);  // the first is smaller, faster and closer
  EXPECT_TRUE(trials[2].is_on_front);
  EXPECT_TRUE(trials[3].is_on_front);
  EXPECT_FALSE(trials[4].is_on_front);  // slower than the original
}

TEST(ObjectiveTest, TheFrontHasThreeCorners) {
  std::vector<TuneTrial> trials = {trial(0.25, 2, 30), trial(0.15, 1, 20), trial(0.5, 1, 60),
                                   trial(0.1, 0.5, 90)};
  mark_front(trials);
  EXPECT_TRUE(trials[0].is_fastest);
  EXPECT_TRUE(trials[1].is_smallest);
  EXPECT_TRUE(trials[2].is_closest);
  EXPECT_FALSE(trials[0].is_smallest || trials[0].is_closest || trials[1].is_fastest);
  EXPECT_FALSE(trials[3].is_smallest || trials[3].is_closest);  // slower than the original
  std::vector<TuneTrial> untimed = {trial(0.25, 2, 30)};
  untimed[0].is_timed = false;
  mark_front(untimed);
  EXPECT_FALSE(untimed[0].is_fastest);  // unknown
  EXPECT_TRUE(untimed[0].is_smallest && untimed[0].is_closest);
}

}  // namespace
}  // namespace ounce::search
