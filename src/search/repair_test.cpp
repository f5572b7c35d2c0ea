// Mixes that store weights are mended: costs are bytes then, and nothing is timed.
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

TEST(MendTest, TheFatalLayerAloneGetsMoreBits) {
  FatalBench bench(30);
  const Mended mended = mend(bench.laboratory, mix_in(Format::kW8), 30, always);
  ASSERT_TRUE(mended.mix);
  EXPECT_THAT(mended.mix->recipe.nodes, ElementsAre(Pair("third.sum", Format::kW16)));
  EXPECT_EQ(mended.mix->recipe.format, Format::kW8);
  EXPECT_EQ(mended.what, "1 layer in 16 bits");
  const TuneTrial trial = bench.laboratory.judge(*mended.mix, "");
  EXPECT_TRUE(trial.passed);
  EXPECT_GE(trial.sqnr_db, 30);
}

TEST(MendTest, AGateThatIsNotInDecibelsIsEnough) {
  FatalBench bench(30);
  bench.options.gates = {};
  bench.options.gates.min_agreement = 0.9;
  const Mended mended = mend(bench.laboratory, mix_in(Format::kW8), kNoLimit, always);
  ASSERT_TRUE(mended.mix);
  EXPECT_EQ(mended.mix->recipe.nodes.count("third.sum"), 1U);
}

TEST(MendTest, MoreRoomThanTheGateAsksForIsKept) {
  FatalBench bench(10);
  const Mended mended = mend(bench.laboratory, mix_in(Format::kW8), 45, always);
  if (mended.mix) {
    EXPECT_GE(bench.laboratory.judge(*mended.mix, "").sqnr_db, 45);
    EXPECT_GT(mended.mix->recipe.nodes.size(), 1U);
  }
}

TEST(MendTest, FourBitsAreMendedWithEightWhereTheyDo) {
  FatalBench bench(17);
  const Mended mended = mend(bench.laboratory, mix_in(Format::kW4), 17, always);
  ASSERT_TRUE(mended.mix);
  EXPECT_TRUE(bench.laboratory.judge(*mended.mix, "").passed);
  const auto& nodes = mended.mix->recipe.nodes;
  ASSERT_EQ(nodes.count("third.sum"), 1U);
  EXPECT_EQ(nodes.at("third.sum"), Format::kW16);  // stands no eight bits
  EXPECT_LT(nodes.size(), 5U);
}

TEST(MendTest, WhatNothingReachesIsNotMended) {
  FatalBench bench(300);
  EXPECT_FALSE(mend(bench.laboratory, mix_in(Format::kW8), 300, always).mix);
}

TEST(MendTest, WithoutTimeNothingIsMended) {
  FatalBench bench(30);
  EXPECT_FALSE(mend(bench.laboratory, mix_in(Format::kW8), 30, never).mix);
}

TEST(MendTest, TimeThatRunsOutInBetweenSpoilsNothing) {
  for (int steps = 1; steps < 8; ++steps) {
    FatalBench bench(30);
    int left = steps;
    const Mended mended = mend(bench.laboratory, mix_in(Format::kW8), 30, [&](double) { return left-- > 0; });
    if (mended.mix) {
      EXPECT_TRUE(bench.laboratory.judge(*mended.mix, "").passed) << steps;
    }
  }
}

TEST(MendTest, WhereNothingIsRoughThereIsNothingToMend) {
  FatalBench bench(30);
  Mix mix = mix_in(Format::kW8);
  for (const char* output : {"first.sum", "second.sum", "third.sum", "fourth.sum", "y"})
    mix.recipe.nodes[output] = Format::kW16;
  EXPECT_FALSE(mend(bench.laboratory, mix, 300, always).mix);
}

}  // namespace
}  // namespace ounce::search
