// Tests repairs with scripted measurements (support/scripted_evaluator.h) and with a real model.
#include "search/tune/repair.h"

#include <gmock/gmock.h>

#include "support/fatal_bench.h"
#include "support/scripted_evaluator.h"

namespace ounce::search {
namespace {

using test::recipe_in;
using test::Script;
using test::ScriptedSearch;
using testing::ElementsAre;
using testing::Pair;

bool always(double) { return true; }
bool never(double) { return false; }

// Five layers, of which "third" loses all accuracy in 8 bits; in INT8 each takes half of its time.
Script one_fatal_layer(double gate_db) {
  Script script;
  script.gate_db = gate_db;
  for (const char* name : {"first", "second", "third", "fourth", "fifth"})
    script.layers.push_back(
        {name,
         1000,
         {{Format::kW16, 1e-7}, {Format::kW8, 1e-5}, {Format::kW4, 5e-3}, {Format::kInt8, 1e-4}},
         "Gemm",
         {{Format::kInt8, 0.5}}});
  script.layers[2].noise = {
      {Format::kW16, 1e-7}, {Format::kW8, 0.5}, {Format::kW4, 0.9}, {Format::kInt8, 0.5}};
  return script;
}

struct RepairTest : testing::Test {
  Repaired run(const Script& script, Format format, const std::function<bool(double)>& has_time = always) {
    search.emplace(script, Budget{.seconds = 1e6});
    return repair(search->evaluator, recipe_in(format), script.gate_db, has_time);
  }
  double sqnr_of(const Recipe& recipe) { return search->evaluator.judge(recipe, "").sqnr_db; }
  std::optional<ScriptedSearch> search;
};

TEST_F(RepairTest, TheFatalLayerAloneGetsMoreBits) {
  const Repaired repaired = run(one_fatal_layer(30), Format::kW8);
  ASSERT_TRUE(repaired.recipe);
  EXPECT_THAT(repaired.recipe->nodes, ElementsAre(Pair("third", Format::kW16)));
  EXPECT_EQ(repaired.recipe->format, Format::kW8);
  EXPECT_EQ(repaired.what, "1 layer in 16 bits");
}

TEST_F(RepairTest, OnIntegersItGoesBackToFloatsInAsFewBitsAsTheGateAllows) {
  Script script = one_fatal_layer(30);
  script.layers[2].noise[Format::kW8] = 1e-5;
  EXPECT_THAT(run(script, Format::kInt8).recipe->nodes, ElementsAre(Pair("third", Format::kW8)));
  EXPECT_THAT(run(one_fatal_layer(30), Format::kInt8).recipe->nodes,
              ElementsAre(Pair("third", Format::kW16)));
}

TEST_F(RepairTest, MoreIsTreatedCarefullyUntilTheGateIsPassed) {
  const Repaired repaired = run(one_fatal_layer(45), Format::kW8);  // 3e-5 is 45.2 dB: two more layers
  ASSERT_TRUE(repaired.recipe);
  EXPECT_EQ(repaired.recipe->nodes.size(), 2U);
  EXPECT_GE(sqnr_of(*repaired.recipe), 45);
}

TEST_F(RepairTest, WhatBringsTheMostForItsCostComesFirst) {
  Script script = one_fatal_layer(30);
  script.layers[2].noise[Format::kInt8] = 1e-4;  // no layer is fatal
  script.layers[1].noise[Format::kInt8] = 9e-4;  // two are equally bad
  script.layers[3].noise[Format::kInt8] = 9e-4;
  script.layers[3].values = 100000;  // one of these two is most of the work
  const Repaired repaired = run(script, Format::kInt8);
  ASSERT_TRUE(repaired.recipe);
  EXPECT_EQ(repaired.recipe->nodes.count("second"), 1U);
}

TEST_F(RepairTest, FourBitsAreRepairedWithEightWhereTheyDo) {
  const Repaired repaired = run(one_fatal_layer(18), Format::kW4);
  ASSERT_TRUE(repaired.recipe);
  EXPECT_GE(sqnr_of(*repaired.recipe), 18);
  EXPECT_EQ(repaired.recipe->nodes.at("third"), Format::kW16);  // 8 bits fail
  EXPECT_LT(repaired.recipe->nodes.size(), 5U);
}

TEST_F(RepairTest, WhatNothingReachesIsNotRepaired) {
  EXPECT_FALSE(run(one_fatal_layer(300), Format::kW8).recipe);
}

TEST_F(RepairTest, WithoutTimeNothingIsRepaired) {
  EXPECT_FALSE(run(one_fatal_layer(30), Format::kW8, never).recipe);
}

TEST_F(RepairTest, TimeThatRunsOutInBetweenSpoilsNothing) {
  std::size_t repaired_runs = 0;
  for (int steps = 1; steps < 30; ++steps) {
    int left = steps;
    const Repaired repaired = run(one_fatal_layer(30), Format::kInt8, [&](double) { return left-- > 0; });
    if (!repaired.recipe) continue;
    ++repaired_runs;
    EXPECT_GE(sqnr_of(*repaired.recipe), 30) << steps;
  }
  EXPECT_GT(repaired_runs, 0U);
}

TEST_F(RepairTest, WhereNothingIsRoughThereIsNothingToRepair) {
  search.emplace(one_fatal_layer(300), Budget{.seconds = 1e6});
  Recipe recipe = recipe_in(Format::kW8);
  for (const char* output : {"first", "second", "third", "fourth", "fifth"})
    recipe.nodes[output] = Format::kW16;
  EXPECT_FALSE(repair(search->evaluator, recipe, 300, always).recipe);
}

TEST(RepairRealTest, TheFatalLayerOfARealModelIsFound) {
  test::FatalBench bench(30);
  const Repaired repaired = repair(bench.evaluator, recipe_in(Format::kW8), 30, always);
  ASSERT_TRUE(repaired.recipe);
  EXPECT_THAT(repaired.recipe->nodes, ElementsAre(Pair("third.sum", Format::kW16)));
  EXPECT_GE(bench.evaluator.judge(*repaired.recipe, "").sqnr_db, 30);
}

}  // namespace
}  // namespace ounce::search
