#include "report/recipe_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe/fields.h"

namespace ounce::report {
namespace {

using testing::ElementsAre;

TEST(RecipeCommandTest, SaysWhatIsNotUsual) {
  Statement statement;
  EXPECT_EQ(making_command(statement), "ounce quantize SOURCE -o OUT --to w8");
  statement.recipe.granularity = {GranularityKind::kBlock, 32};
  statement.recipe.fp16_budget = 0.02;
  statement.recipe.exclude = {"head|tail"};
  EXPECT_EQ(making_command(statement),
            "ounce quantize SOURCE -o OUT --to w8 --granularity block:32 --expert fp16-budget=2 --exclude "
            "'head|tail'");
}

TEST(RecipeCommandTest, AMixNamesItsNodes) {
  Recipe recipe;
  recipe.format = Format::kInt8;
  recipe.nodes = {{"a b", Format::kW8}, {"c", Format::kInt8Dynamic}};
  recipe.integer.values["x"].range = ValueRange{-1, 6.5};
  recipe.integer.values["y"].keep_float = true;
  recipe.integer.equalize = true;
  EXPECT_THAT(options_of(recipe), ElementsAre("--to", "int8", "--node", "a b=w8", "--node", "c=int8-dynamic",
                                              "--expert", "value=x=-1:6.5", "--expert", "value=y=float",
                                              "--no-search", "--expert", "equalize=true"));
}

TEST(RecipeCommandTest, AGateNamesItsLimitsAndItsSamples) {
  Statement statement;
  EXPECT_EQ(judging_command(statement), "");
  StatedGate gate;
  gate.gates.max_drop = 0.005;
  gate.gates.confidence = 0.9;
  gate.run.labels = "x";
  gate.selection.part = 1;
  gate.selection.parts = 2;
  statement.gate = gate;
  EXPECT_EQ(
      judging_command(statement),
      "ounce verify SOURCE MODEL --data DATA --part 2/2 --labels LABELS --max-drop 0.5% --confidence 90%");
  statement.calibration = {0, 0, 0, 2, 1};
  EXPECT_EQ(making_command(statement), "ounce quantize SOURCE -o OUT --to w8 --data DATA --part 1/2");
}

}  // namespace
}  // namespace ounce::report
