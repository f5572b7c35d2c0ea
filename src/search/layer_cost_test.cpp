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

Trade trade_of(std::vector<std::string> outputs) {
  Trade trade;
  trade.outputs = std::move(outputs);
  return trade;
}

std::vector<std::string> names_of(const std::vector<Trade>& trades) {
  std::vector<std::string> names;
  for (const Trade& trade : trades) names.push_back(trade.name);
  return names;
}

TEST(WithTest, LayersGetAnotherFormatAndTheRestStays) {
  Mix mix = mix_in(Format::kStatic);
  mix.is_even = true;
  mix.recipe.nodes = {{"a", Format::kDynamic}, {"b", Format::kW8}};
  const Mix changed = with(mix, {trade_of({"b", "c"}), trade_of({"d"})}, Format::kW16);
  EXPECT_THAT(changed.recipe.nodes, ElementsAre(Pair("a", Format::kDynamic), Pair("b", Format::kW16),
                                                Pair("c", Format::kW16), Pair("d", Format::kW16)));
  EXPECT_EQ(changed.recipe.format, Format::kStatic);
  EXPECT_TRUE(changed.is_even);
  EXPECT_EQ(mix.recipe.nodes.size(), 2U);
  EXPECT_EQ(with(mix, {}, Format::kW16).recipe.nodes, mix.recipe.nodes);
}

struct TradesTest : testing::Test {
  FatalBench bench;
};

TEST_F(TradesTest, TheFatalLayerBringsTheMostByFar) {
  const std::vector<Trade> trades =
      find_trades(bench.laboratory, mix_in(Format::kW8), {Format::kW8}, false, always);
  ASSERT_THAT(names_of(trades), ElementsAre("first", "second", "third", "fourth", "fifth"));
  for (const Trade& trade : trades) {
    EXPECT_GE(trade.gain, 0) << trade.name;
    EXPECT_LE(trade.gain, trade.name == "third" ? 2 : 0.1) << trade.name;
    EXPECT_EQ(trade.outputs.size(), 1U);
  }
  EXPECT_GT(trades[2].gain, 0.9);  // without it nothing of the outputs was left
}

TEST_F(TradesTest, CostsOfStorageAreShares) {
  const std::vector<Trade> trades =
      find_trades(bench.laboratory, mix_in(Format::kW8), {Format::kW8}, false, always);
  ASSERT_EQ(trades.size(), 5U);
  EXPECT_EQ(trades[0].values, 32U * 32);
  EXPECT_EQ(trades[4].values, 32U * 10);
  EXPECT_GT(trades[0].cost, trades[4].cost);
  double all = 0;
  for (const Trade& trade : trades) all += trade.cost;
  EXPECT_LE(all, 1);
}

TEST_F(TradesTest, OnlyLayersInTheseFormatsAreAsked) {
  Mix mix = mix_in(Format::kW8);
  mix.recipe.nodes["third.sum"] = Format::kW16;
  EXPECT_THAT(names_of(find_trades(bench.laboratory, mix, {Format::kW8}, false, always)),
              ElementsAre("first", "second", "fourth", "fifth"));
  EXPECT_THAT(names_of(find_trades(bench.laboratory, mix, {Format::kW16}, false, always)),
              ElementsAre("third"));
  EXPECT_THAT(find_trades(bench.laboratory, mix, {Format::kStatic}, false, always), IsEmpty());
}

TEST_F(TradesTest, WithoutTimeNothingIsMeasured) {
  std::vector<double> asked;
  const auto never = [&](double seconds) {
    asked.push_back(seconds);
    return false;
  };
  EXPECT_THAT(find_trades(bench.laboratory, mix_in(Format::kW8), {Format::kW8}, false, never), IsEmpty());
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_GT(asked[0], 0);
}

TEST_F(TradesTest, MeasurementsAreMadeOnce) {
  find_trades(bench.laboratory, mix_in(Format::kW8), {Format::kW8}, false, always);
  const std::uint64_t before = bench.laboratory.recalled();
  find_trades(bench.laboratory, mix_in(Format::kW8), {Format::kW8}, false, always);
  EXPECT_EQ(bench.laboratory.recalled() - before, 6U);  // five layers, and the mix itself
}

}  // namespace
}  // namespace ounce::search
