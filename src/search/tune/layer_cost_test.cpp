#include "search/tune/repair.h"

#include <gmock/gmock.h>

#include "support/fatal_bench.h"
#include "support/scripted_evaluator.h"

namespace ounce::search {
namespace {

using test::recipe_in;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

bool all_the_time(double) { return true; }

LayerCost cost_of_layers(std::vector<std::string> outputs) {
  LayerCost layer_cost;
  layer_cost.outputs = std::move(outputs);
  return layer_cost;
}

std::vector<std::string> names_of(const std::vector<LayerCost>& layer_costs) {
  std::vector<std::string> names;
  for (const LayerCost& layer_cost : layer_costs) names.push_back(layer_cost.name);
  return names;
}

TEST(WithTest, LayersGetAnotherFormatAndTheRestStays) {
  Recipe recipe = recipe_in(Format::kInt8);
  recipe.integer.equalize = true;
  recipe.nodes = {{"a", Format::kInt8Dynamic}, {"b", Format::kW8}};
  const Recipe changed = with(recipe, {cost_of_layers({"b", "c"}), cost_of_layers({"d"})}, Format::kW16);
  EXPECT_THAT(changed.nodes, ElementsAre(Pair("a", Format::kInt8Dynamic), Pair("b", Format::kW16),
                                         Pair("c", Format::kW16), Pair("d", Format::kW16)));
  EXPECT_EQ(changed.format, Format::kInt8);
  EXPECT_TRUE(changed.integer.equalize);
  EXPECT_EQ(recipe.nodes.size(), 2U);
  EXPECT_EQ(with(recipe, {}, Format::kW16).nodes, recipe.nodes);
}

// "third" causes all of the noise; "fourth" has most of the weights.
test::Script script_of_five() {
  test::Script script;
  for (const char* name : {"first", "second", "third", "fourth", "fifth"})
    script.layers.push_back(
        {name, 1000, {{Format::kW8, 1e-5}, {Format::kInt8, 1e-4}}, "Gemm", {{Format::kInt8, 0.5}}});
  script.layers[2].noise[Format::kW8] = 0.5;
  script.layers[3].values = 6000;
  return script;
}

struct LayerCostTest : testing::Test {
  std::vector<LayerCost> costs(const Recipe& recipe, Format format, bool is_timed = false,
                               const std::function<bool(double)>& has_time = all_the_time) {
    return measure_layer_costs(search.evaluator, recipe, {format}, is_timed, has_time);
  }
  test::ScriptedSearch search{script_of_five(), {.seconds = 1e6}};
};

TEST_F(LayerCostTest, AGainIsTheNoiseThatGoesAway) {
  const std::vector<LayerCost> found = costs(recipe_in(Format::kW8), Format::kW8);
  ASSERT_THAT(names_of(found), ElementsAre("first", "second", "third", "fourth", "fifth"));
  EXPECT_NEAR(found[0].gain, 1e-5, 1e-12);
  EXPECT_NEAR(found[2].gain, 0.5, 1e-9);
}

TEST_F(LayerCostTest, CostsOfStorageAreSharesOfTheBytes) {
  const std::vector<LayerCost> found = costs(recipe_in(Format::kW8), Format::kW8);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[3].values, 6000U);
  EXPECT_DOUBLE_EQ(found[0].cost, 1000.0 / 40000);
  EXPECT_DOUBLE_EQ(found[3].cost, 6000.0 / 40000);
  EXPECT_EQ(search.evaluator.timings, 0);
}

TEST_F(LayerCostTest, CostsOfArithmeticAreSharesOfTheTime) {
  const std::vector<LayerCost> found = costs(recipe_in(Format::kInt8), Format::kInt8, true);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_NEAR(found[0].cost, 0.05, 1e-9);  // half of a tenth of the work
  EXPECT_NEAR(found[3].cost, 0.30, 1e-9);
}

TEST_F(LayerCostTest, OnlyLayersInTheseFormatsAreAsked) {
  Recipe recipe = recipe_in(Format::kW8);
  recipe.nodes["third"] = Format::kW16;
  EXPECT_THAT(names_of(costs(recipe, Format::kW8)), ElementsAre("first", "second", "fourth", "fifth"));
  EXPECT_THAT(names_of(costs(recipe, Format::kW16)), ElementsAre("third"));
  EXPECT_THAT(costs(recipe, Format::kInt8), IsEmpty());
}

TEST_F(LayerCostTest, WithoutTimeNothingIsMeasured) {
  std::vector<double> asked;
  const auto never = [&](double seconds) {
    asked.push_back(seconds);
    return false;
  };
  EXPECT_THAT(costs(recipe_in(Format::kW8), Format::kW8, false, never), IsEmpty());
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_GT(asked[0], 0);
}

TEST(LayerCostRealTest, MeasurementsAreMadeOnce) {
  test::FatalBench bench;
  measure_layer_costs(bench.evaluator, recipe_in(Format::kW8), {Format::kW8}, false, all_the_time);
  const std::uint64_t before = bench.evaluator.recalled();
  measure_layer_costs(bench.evaluator, recipe_in(Format::kW8), {Format::kW8}, false, all_the_time);
  EXPECT_EQ(bench.evaluator.recalled() - before, 6U);  // five layers, and the recipe itself
}

}  // namespace
}  // namespace ounce::search
