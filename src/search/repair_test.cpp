// Mixes that store weights are repaired: costs are bytes then, and nothing is timed.
#include "search/repair.h"

#include <gmock/gmock.h>

#include "support/fatal_bench.h"

namespace ounce::search {
namespace {

using test::FatalBench;
using test::mix_in;
using testing::ElementsAre;
using testing::Pair;

constexpr double kNoLimit = -1e9;

bool always(double) { return true; }
bool never(double) { return false; }

TEST(RepairTest, TheFatalLayerAloneGetsMoreBits) {
  FatalBench bench(30);
  const Repaired repaired = repair(bench.evaluator, mix_in(Format::kW8), 30, always);
  ASSERT_TRUE(repaired.mix);
  EXPECT_THAT(repaired.mix->recipe.nodes, ElementsAre(Pair("third.sum", Format::kW16)));
  EXPECT_EQ(repaired.mix->recipe.format, Format::kW8);
  EXPECT_EQ(repaired.what, "1 layer in 16 bits");
  const TuneTrial trial = bench.evaluator.judge(*repaired.mix, "");
  EXPECT_TRUE(trial.passed);
  EXPECT_GE(trial.sqnr_db, 30);
}

TEST(RepairTest, AGateThatIsNotInDecibelsIsEnough) {
  FatalBench bench(30);
  bench.options.gates = {};
  bench.options.gates.min_agreement = 0.9;
  const Repaired repaired = repair(bench.evaluator, mix_in(Format::kW8), kNoLimit, always);
  ASSERT_TRUE(repaired.mix);
  EXPECT_EQ(repaired.mix->recipe.nodes.count("third.sum"), 1U);
}

TEST(RepairTest, MoreRoomThanTheGateAsksForIsKept) {
  FatalBench bench(10);
  const Repaired repaired = repair(bench.evaluator, mix_in(Format::kW8), 45, always);
  if (repaired.mix) {
    EXPECT_GE(bench.evaluator.judge(*repaired.mix, "").sqnr_db, 45);
    EXPECT_GT(repaired.mix->recipe.nodes.size(), 1U);
  }
}

TEST(RepairTest, FourBitsAreRepairedWithEightWhereTheyDo) {
  FatalBench bench(17);
  const Repaired repaired = repair(bench.evaluator, mix_in(Format::kW4), 17, always);
  ASSERT_TRUE(repaired.mix);
  EXPECT_TRUE(bench.evaluator.judge(*repaired.mix, "").passed);
  const auto& nodes = repaired.mix->recipe.nodes;
  ASSERT_EQ(nodes.count("third.sum"), 1U);
  EXPECT_EQ(nodes.at("third.sum"), Format::kW16);  // stands no eight bits
  EXPECT_LT(nodes.size(), 5U);
}

TEST(RepairTest, WhatNothingReachesIsNotRepaired) {
  FatalBench bench(300);
  EXPECT_FALSE(repair(bench.evaluator, mix_in(Format::kW8), 300, always).mix);
}

TEST(RepairTest, WithoutTimeNothingIsRepaired) {
  FatalBench bench(30);
  EXPECT_FALSE(repair(bench.evaluator, mix_in(Format::kW8), 30, never).mix);
}

TEST(RepairTest, TimeThatRunsOutInBetweenSpoilsNothing) {
  for (int steps = 1; steps < 8; ++steps) {
    FatalBench bench(30);
    int left = steps;
    const Repaired repaired =
        repair(bench.evaluator, mix_in(Format::kW8), 30, [&](double) { return left-- > 0; });
    if (repaired.mix) {
      EXPECT_TRUE(bench.evaluator.judge(*repaired.mix, "").passed) << steps;
    }
  }
}

TEST(RepairTest, WhereNothingIsRoughThereIsNothingToRepair) {
  FatalBench bench(30);
  ResolvedRecipe mix = mix_in(Format::kW8);
  for (const char* output : {"first.sum", "second.sum", "third.sum", "fourth.sum", "y"})
    mix.recipe.nodes[output] = Format::kW16;
  EXPECT_FALSE(repair(bench.evaluator, mix, 300, always).mix);
}

}  // namespace
}  // namespace ounce::search
