#include "recipe/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <set>

#include "recipe/format_info.h"

namespace ounce {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::string refusal_of(const Recipe& recipe) {
  try {
    require_fields_are_read(recipe);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

struct Keys {
  std::set<std::string_view> keys, paths, options;

  template <class T>
  void operator()(const RecipeField& field, const T& value, const T& usual) {
    EXPECT_TRUE(keys.insert(field.key()).second) << field.key();
    EXPECT_TRUE(paths.insert(field.path).second) << field.path;
    EXPECT_TRUE(options.insert(field.option).second) << field.option;
    EXPECT_TRUE(value == usual) << field.path;
  }
};

TEST(RecipeFieldsTest, KeysPathsAndOptionsAreUnique) {
  Keys keys;
  fields(usual_recipe(), keys);
  EXPECT_EQ(keys.keys.size(), 43U);
}

TEST(RecipeFieldsTest, AFieldThatTheFormatDoesNotReadIsRefused) {
  Recipe recipe;
  recipe.integer.calibration = CalibrationMethod::kMse;
  const std::string is_static_only = "`integer.calibration` is for " + formats_that_read(ReadBy::kStatic);
  EXPECT_EQ(refusal_of(recipe), is_static_only);
  recipe.format = Format::kInt8Dynamic;
  EXPECT_EQ(refusal_of(recipe), is_static_only);
  recipe.format = Format::kInt8;
  EXPECT_EQ(refusal_of(recipe), "");
  recipe.half.keep_names = true;
  EXPECT_THAT(refusal_of(recipe), HasSubstr("`half.keep_names` is for"));
  recipe.integer.fp16_remainder = true;
  EXPECT_EQ(refusal_of(recipe), "");
}

TEST(RecipeFieldsTest, SwitchingOffWhatAFormatDoesNotDoIsNoMistake) {
  Recipe recipe;
  recipe.integer.search = recipe.integer.equalize = recipe.integer.correct_bias = false;
  EXPECT_EQ(refusal_of(recipe), "");
}

TEST(RecipeFieldsTest, NodesReadWhatTheirFormatReads) {
  Recipe recipe;
  recipe.nbits.accuracy_level = AccuracyLevel::k4;
  EXPECT_THAT(refusal_of(recipe), HasSubstr("`nbits.accuracy_level` is for"));
  recipe.nodes["y"] = nbits(4);
  EXPECT_EQ(refusal_of(recipe), "");
}

TEST(RecipeFieldsTest, TextsSetFieldsByKeyOrPath) {
  Recipe recipe;
  set_field(recipe, "fit_on_even_samples", "true");
  set_field(recipe, "integer.fp16_remainder", "fp16");
  set_field(recipe, "decode_share", "12.5");
  set_field(recipe, "granularity", "block:64");
  set_field(recipe, "nodes", "a=b=w4");
  set_field(recipe, "values", "x=-1:6.5");
  set_field(recipe, "values", "x=u16");
  set_field(recipe, "skip_rewrites", "tanh");
  EXPECT_TRUE(recipe.integer.fit_on_even_samples);
  EXPECT_TRUE(recipe.integer.fp16_remainder);
  EXPECT_EQ(recipe.decode_share, 0.125);
  EXPECT_EQ(recipe.granularity, (Granularity{GranularityKind::kBlock, 64}));
  EXPECT_EQ(recipe.nodes.at("a=b"), Format::kW4);
  EXPECT_EQ(recipe.integer.values.at("x").range->high, 6.5);
  EXPECT_EQ(recipe.integer.values.at("x").type, ActivationType::kU16);
  EXPECT_EQ(recipe.integer.skip_rewrites, std::set{Rewrite::kTanh});
}

TEST(RecipeFieldsTest, AFormatHasAliasesAndIsWrittenByItsName) {
  Recipe recipe;
  set_field(recipe, "format", "static");
  set_field(recipe, "nodes", "a=dynamic");
  set_field(recipe, "nodes", "b=int4");
  recipe.integer.search = false;
  EXPECT_THAT(options_of(recipe),
              ElementsAre("--to", "int8", "--node", "a=int8-dynamic", "--node", "b=nbits4", "--no-search"));
}

TEST(RecipeFieldsTest, EarlierKeysAreAccepted) {
  Recipe recipe;
  recipe.format = format_with(Arithmetic::kStatic);
  set_field(recipe, "fp16_budget", "2");
  set_field(recipe, "use_cost_model", "false");
  set_field(recipe, "fit_on_even_samples", "true");
  set_field(recipe, "fp16_remainder", "fp16");
  set_field(recipe, "rounding", "balanced");
  recipe.integer.search = false;
  EXPECT_THAT(options_of(recipe),
              ElementsAre("--to", "int8", "--expert", "fp16-budget=2", "--fallback", "fp16", "--expert",
                          "use-cost-model=false", "--no-search", "--expert", "fit-on-even-samples=true"));
}

TEST(RecipeFieldsTest, TextsThatAreNoneAreRefused) {
  const auto refusal = [](const char* key, const char* text) -> std::string {
    try {
      Recipe recipe;
      set_field(recipe, key, text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal("nothing", "1"), "a recipe has no field 'nothing'");
  EXPECT_EQ(refusal("codebook", "yes"), "`codebook` 'yes' must be true or false");
  EXPECT_EQ(refusal("percentile", "nan"), "`integer.percentile` 'nan' must be a number from 50 to 100");
  EXPECT_EQ(refusal("min_bytes", "-1"), "`min_bytes` '-1' must be a whole number");
  EXPECT_EQ(refusal("granularity", "block:"),
            "`granularity` 'block:' must be auto, tensor, channel, or block:N");
  EXPECT_THAT(refusal("nodes", "a=fp16"),
              AllOf(HasSubstr("must be NAME=FORMAT"), HasSubstr("is for whole models: use `format=fp16`")));
  EXPECT_THAT(refusal("nodes", "a=nbit4"), EndsWith("; did you mean 'nbits4'?"));
  EXPECT_THAT(refusal("format", "int8dynamic"), EndsWith("; did you mean 'int8-dynamic'?"));
}

TEST(RecipeFieldsTest, OptionsOfFieldsAndOfTheirValues) {
  EXPECT_EQ(option_of_recipe_field("memory"), "--memory");
  EXPECT_EQ(option_of_recipe_field("decoder"), "--expert decode");
  EXPECT_EQ(option_of_recipe_field("decoder=dq"), "--expert decode=dq");
  EXPECT_EQ(option_of_recipe_field("half.keep_names=true"), "--expert keep-names=true");
  EXPECT_EQ(option_of_recipe_field("integer.search=false"), "--no-search");
  EXPECT_EQ(option_of_recipe_field("integer.fp16_remainder=true"), "--fallback fp16");
  EXPECT_EQ(option_of_recipe_field("keep_inputs=true"), "--keep-inputs");
  EXPECT_EQ(option_of_recipe_field("nodes=a=b"), "--node a=b");
  EXPECT_EQ(option_of_recipe_field("nothing"), "");
}

TEST(RecipeFieldsTest, TheOptionsOfARecipeNameWhatIsNotUsual) {
  Recipe recipe;
  recipe.granularity = {GranularityKind::kBlock, 32};
  recipe.fp16_budget = 0.02;
  recipe.keep_inputs = true;
  EXPECT_THAT(options_of(recipe), ElementsAre("--to", "w8", "--granularity", "block:32", "--expert",
                                              "fp16-budget=2", "--keep-inputs"));
  recipe = {};
  recipe.format = format_with(Arithmetic::kStatic);
  recipe.integer.search = recipe.integer.equalize = false;
  recipe.integer.reduce_range = false;
  EXPECT_THAT(options_of(recipe), ElementsAre("--to", name_of(recipe.format), "--no-reduce-range",
                                              "--no-search", "--expert", "equalize=false"));
}

}  // namespace
}  // namespace ounce
