#include "search/recipe_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ounce::search {
namespace {

Recipe mixed() {
  Recipe recipe;
  recipe.integer.equalize = true;
  recipe.format = Format::kStatic;
  recipe.rounding = Rounding::kNearest;
  recipe.nodes = {{"a", Format::kDynamic}, {"if/then_branch/b", Format::kW16}};
  IntegerRecipe& integer = recipe.integer;
  integer.activations = ActivationType::kS16;
  integer.calibration = CalibrationMethod::kPercentile;
  integer.percentile = 99.999;
  integer.correct_bias = false;
  integer.values["e"].range = ValueRange{-1.25, 6.1};
  integer.values["f"].method = CalibrationMethod::kMse;
  integer.values["g"].type = ActivationType::kS8;
  integer.values["h"].keep_float = true;
  return recipe;
}

TEST(RecipeJsonTest, WhatASearchChangesComesBack) {
  const nlohmann::json text = nlohmann::json::parse(to_json(mixed()).dump());
  const Recipe read = recipe_from(text);
  EXPECT_EQ(to_json(read), to_json(mixed()));
  EXPECT_EQ(read.nodes, mixed().nodes);
  EXPECT_EQ(read.integer.values.at("e").range->high, 6.1);
  EXPECT_EQ(read.integer.values.at("f").method, CalibrationMethod::kMse);
  EXPECT_TRUE(read.integer.values.at("h").keep_float);
  EXPECT_TRUE(read.integer.equalize);
}

TEST(RecipeJsonTest, EveryChangeShows) {
  const Recipe plain;
  Recipe other;
  other.nodes["a"] = Format::kW16;
  EXPECT_NE(to_json(plain), to_json(other));
  other = {};
  other.integer.equalize = false;
  EXPECT_NE(to_json(plain), to_json(other));
}

TEST(RecipeJsonTest, WhatIsNoneIsRefused) {
  EXPECT_THROW(recipe_from(nlohmann::json::object()), nlohmann::json::exception);
  nlohmann::json unknown = to_json(mixed());
  unknown["format"] = "w5";
  EXPECT_THROW(recipe_from(unknown), nlohmann::json::exception);
}

}  // namespace
}  // namespace ounce::search
