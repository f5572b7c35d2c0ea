#include "search/recipe_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ounce::search {
namespace {

ResolvedRecipe mixed() {
  ResolvedRecipe mix;
  mix.is_equalized = true;
  mix.recipe.format = Format::kStatic;
  mix.recipe.rounding = Rounding::kNearest;
  mix.recipe.nodes = {{"a", Format::kDynamic}, {"if/then_branch/b", Format::kW16}};
  IntegerRecipe& integer = mix.recipe.integer;
  integer.activations = ActivationType::kS16;
  integer.calibration = CalibrationMethod::kPercentile;
  integer.percentile = 99.999;
  integer.correct_bias = false;
  integer.float_nodes = {"c", "d"};
  integer.values["e"].range = ValueRange{-1.25, 6.1};
  integer.values["f"].method = CalibrationMethod::kMse;
  integer.values["g"].type = ActivationType::kS8;
  integer.values["h"].keep_float = true;
  return mix;
}

TEST(RecipeJsonTest, WhatASearchChangesComesBack) {
  const nlohmann::json text = nlohmann::json::parse(to_json(mixed()).dump());
  const ResolvedRecipe read = mix_of(text);
  EXPECT_EQ(to_json(read), to_json(mixed()));
  EXPECT_EQ(read.recipe.nodes, mixed().recipe.nodes);
  EXPECT_EQ(read.recipe.integer.values.at("e").range->high, 6.1);
  EXPECT_EQ(read.recipe.integer.values.at("f").method, CalibrationMethod::kMse);
  EXPECT_TRUE(read.recipe.integer.values.at("h").keep_float);
  EXPECT_TRUE(read.is_equalized);
}

TEST(RecipeJsonTest, EveryChangeShows) {
  const ResolvedRecipe plain;
  ResolvedRecipe other;
  other.recipe.nodes["a"] = Format::kW16;
  EXPECT_NE(to_json(plain), to_json(other));
  other = {};
  other.is_equalized = true;
  EXPECT_NE(to_json(plain), to_json(other));
}

TEST(RecipeJsonTest, WhatIsNoneIsRefused) {
  EXPECT_THROW(mix_of(nlohmann::json::object()), nlohmann::json::exception);
  nlohmann::json unknown = to_json(mixed());
  unknown["format"] = "w5";
  EXPECT_THROW(mix_of(unknown), nlohmann::json::exception);
}

}  // namespace
}  // namespace ounce::search
