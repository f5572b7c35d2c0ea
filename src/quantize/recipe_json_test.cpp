#include "quantize/recipe_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ounce::quantization {
namespace {

Recipe mixed() {
  Recipe recipe;
  recipe.integer.equalize = true;
  recipe.format = Format::kInt8;
  recipe.rounding = Rounding::kNearest;
  recipe.nodes = {{"a", Format::kInt8Dynamic}, {"if/then_branch/b", Format::kW16}};
  IntegerRecipe& integer = recipe.integer;
  integer.activations = ActivationType::kS16;
  integer.calibration = CalibrationMethod::kPercentile;
  integer.percentile = 99.999;
  integer.correct_bias = false;
  integer.fit_on_even_samples = true;
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
  EXPECT_TRUE(read.integer.fit_on_even_samples);
}

TEST(RecipeJsonTest, RewritesThatAreSkippedComeBack) {
  Recipe recipe;
  recipe.format = Format::kInt8;
  recipe.integer.search = recipe.integer.equalize = false;
  recipe.integer.skip_rewrites = {Rewrite::kTanh, Rewrite::kPadChannels};
  recipe.integer.use_cost_model = false;
  const Recipe back = recipe_from(to_json(recipe));
  EXPECT_EQ(back.integer.skip_rewrites, recipe.integer.skip_rewrites);
  EXPECT_FALSE(back.integer.use_cost_model);
}

TEST(RecipeJsonTest, FewBitsComeBackWithTheLevelOfEachNode) {
  Recipe recipe;
  recipe.integer.search = recipe.integer.equalize = false;
  recipe.format = Format::kNbits4;
  recipe.nbits = {NbitsDialect::kNbits,      AccuracyLevel::k4, WeightMethod::kScale, 4.5, 1000,
                  {{"y", AccuracyLevel::k1}}};
  recipe.nodes = {{"z", Format::kNbits8}};
  const Recipe read = recipe_from(nlohmann::json::parse(to_json(recipe).dump()));
  EXPECT_EQ(to_json(read), to_json(recipe));
  EXPECT_EQ(read.nbits.method, WeightMethod::kScale);
  EXPECT_EQ(read.nbits.bits, 4.5);
  EXPECT_EQ(read.nbits.target_size, 1000U);
  EXPECT_EQ(read.nbits.levels.at("y"), AccuracyLevel::k1);
}

TEST(RecipeJsonTest, EveryChangeShows) {
  const Recipe plain;
  Recipe other;
  other.nodes["a"] = Format::kW16;
  EXPECT_NE(to_json(plain), to_json(other));
  other = {};
  other.granularity = {GranularityKind::kBlock, 32};
  EXPECT_NE(to_json(plain), to_json(other));
}

TEST(RecipeJsonTest, SaysOnlyWhatTheFormatLooksAt) {
  Recipe recipe;
  recipe.integer.percentile = 90;
  recipe.half.half_io = true;
  EXPECT_EQ(to_json(recipe), nlohmann::json({{"format", "w8"}}));
  recipe.format = Format::kFp16;
  EXPECT_EQ(to_json(recipe), nlohmann::json({{"format", "fp16"}, {"half_io", true}}));
  recipe.format = Format::kInt8Dynamic;
  recipe.integer.equalize = false;
  EXPECT_EQ(to_json(recipe), nlohmann::json({{"format", "int8-dynamic"}, {"percentile", 90}}));
}

TEST(RecipeJsonTest, FormatsMayHaveTheirAliases) {
  const nlohmann::json made = {{"format", "static"}, {"nodes", {{"a", "dynamic"}, {"b", "int4"}}}};
  const nlohmann::json read = to_json(recipe_from(made));
  EXPECT_EQ(read["format"], "int8");
  EXPECT_EQ(read["nodes"], nlohmann::json({{"a", "int8-dynamic"}, {"b", "nbits4"}}));
}

TEST(RecipeJsonTest, KeysMayBeTheEarlierOnes) {
  const nlohmann::json made = {{"format", "static"},      {"fp16_budget", 0.5},
                               {"dynamic_conv", true},    {"fp16_remainder", true},
                               {"use_cost_model", false}, {"fit_on_even_samples", true},
                               {"rounding", "balanced"}};
  const nlohmann::json read = to_json(recipe_from(made));
  EXPECT_EQ(read, nlohmann::json({{"format", "int8"},
                                  {"fp16_budget", 0.5},
                                  {"dynamic_conv", true},
                                  {"fp16_remainder", true},
                                  {"use_cost_model", false},
                                  {"fit_on_even_samples", true}}));
}

TEST(RecipeJsonTest, EveryFieldComesBack) {
  Recipe recipe = mixed();
  recipe.target = "linux-x64@1.30.0";
  recipe.decoder = DecoderChoice::kDq;
  recipe.memory = MemoryUse::kBalanced;
  recipe.decode_share = 0.125;
  recipe.granularity = {GranularityKind::kBlock, 64};
  recipe.scale = ScaleMethod::kAbsMax;
  recipe.codebook = recipe.asymmetric = recipe.keep_inputs = true;
  recipe.min_bytes = 7;
  recipe.fp16_budget = 0.25;
  recipe.include = {"a", "b"};
  recipe.exclude = {"c"};
  IntegerRecipe& integer = recipe.integer;
  integer.dialect = Dialect::kQOperator;
  integer.symmetric_activations = integer.integer_io = integer.dynamic_conv = integer.fp16_remainder = true;
  integer.weights = WeightType::kS4;
  integer.reduce_range = false;
  recipe.half = {true, {"d"}, true};
  const nlohmann::json made = to_json(recipe);
  EXPECT_EQ(to_json(recipe_from(made)), made);
  EXPECT_EQ(made.size(), 34U);
  const Recipe read = recipe_from(made);
  EXPECT_EQ(read.integer.reduce_range, false);
  EXPECT_EQ(read.granularity.block, 64U);
  EXPECT_EQ(read.half.keep, recipe.half.keep);
  EXPECT_FALSE(read.integer.search);
}

TEST(RecipeJsonTest, WhatIsNoneIsRefused) {
  EXPECT_THROW(recipe_from(nlohmann::json::object()), nlohmann::json::exception);
  nlohmann::json unknown = to_json(mixed());
  unknown["format"] = "w5";
  EXPECT_THROW(recipe_from(unknown), nlohmann::json::exception);
}

}  // namespace
}  // namespace ounce::quantization
