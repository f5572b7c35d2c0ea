#include "search/layer_cost.h"

#include <gmock/gmock.h>

#include <cmath>

#include "support/fatal_bench.h"

namespace ounce::search {
namespace {

using test::FatalBench;
using test::mix_in;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

bool always(double) { return true; }

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
  ResolvedRecipe mix = mix_in(Format::kStatic);
  mix.is_equalized = true;
  mix.recipe.nodes = {{"a", Format::kDynamic}, {"b", Format::kW8}};
  const ResolvedRecipe changed = with(mix, {cost_of_layers({"b", "c"}), cost_of_layers({"d"})}, Format::kW16);
  EXPECT_THAT(changed.recipe.nodes, ElementsAre(Pair("a", Format::kDynamic), Pair("b", Format::kW16),
                                                Pair("c", Format::kW16), Pair("d", Format::kW16)));
  EXPECT_EQ(changed.recipe.format, Format::kStatic);
  EXPECT_TRUE(changed.is_equalized);
  EXPECT_EQ(mix.recipe.nodes.size(), 2U);
  EXPECT_EQ(with(mix, {}, Format::kW16).recipe.nodes, mix.recipe.nodes);
}

struct LayerCostTest : testing::Test {
  FatalBench bench;
};

TEST_F(LayerCostTest, TheFatalLayerBringsTheMostByFar) {
  const std::vector<LayerCost> layer_costs =
      measure_layer_costs(bench.evaluator, mix_in(Format::kW8), {Format::kW8}, false, always);
  ASSERT_THAT(names_of(layer_costs), ElementsAre("first", "second", "third", "fourth", "fifth"));
  for (const LayerCost& layer_cost : layer_costs) {
    EXPECT_GE(layer_cost.gain, 0) << layer_cost.name;
    EXPECT_LE(layer_cost.gain, layer_cost.name == "third" ? 2 : 0.1) << layer_cost.name;
    EXPECT_EQ(layer_cost.outputs.size(), 1U);
  }
  EXPECT_GT(layer_costs[2].gain, 0.9);  // without it nothing of the outputs was left
}

TEST_F(LayerCostTest, CostsOfStorageAreShares) {
  const std::vector<LayerCost> layer_costs =
      measure_layer_costs(bench.evaluator, mix_in(Format::kW8), {Format::kW8}, false, always);
  ASSERT_EQ(layer_costs.size(), 5U);
  EXPECT_EQ(layer_costs[0].values, 32U * 32);
  EXPECT_EQ(layer_costs[4].values, 32U * 10);
  EXPECT_GT(layer_costs[0].cost, layer_costs[4].cost);
  double all = 0;
  for (const LayerCost& layer_cost : layer_costs) all += layer_cost.cost;
  EXPECT_LE(all, 1);
}

TEST_F(LayerCostTest, OnlyLayersInTheseFormatsAreAsked) {
  ResolvedRecipe mix = mix_in(Format::kW8);
  mix.recipe.nodes["third.sum"] = Format::kW16;
  EXPECT_THAT(names_of(measure_layer_costs(bench.evaluator, mix, {Format::kW8}, false, always)),
              ElementsAre("first", "second", "fourth", "fifth"));
  EXPECT_THAT(names_of(measure_layer_costs(bench.evaluator, mix, {Format::kW16}, false, always)),
              ElementsAre("third"));
  EXPECT_THAT(measure_layer_costs(bench.evaluator, mix, {Format::kStatic}, false, always), IsEmpty());
}

TEST_F(LayerCostTest, WithoutTimeNothingIsMeasured) {
  std::vector<double> asked;
  const auto never = [&](double seconds) {
    asked.push_back(seconds);
    return false;
  };
  EXPECT_THAT(measure_layer_costs(bench.evaluator, mix_in(Format::kW8), {Format::kW8}, false, never),
              IsEmpty());
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_GT(asked[0], 0);
}

TEST_F(LayerCostTest, MeasurementsAreMadeOnce) {
  measure_layer_costs(bench.evaluator, mix_in(Format::kW8), {Format::kW8}, false, always);
  const std::uint64_t before = bench.evaluator.recalled();
  measure_layer_costs(bench.evaluator, mix_in(Format::kW8), {Format::kW8}, false, always);
  EXPECT_EQ(bench.evaluator.recalled() - before, 6U);  // five layers, and the mix itself
}

}  // namespace
}  // namespace ounce::search
