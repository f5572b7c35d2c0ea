// Candidates of the example as a .tflite model, in every version of LiteRT that is here.
#include "search/tune/tflite_candidates.h"

#include <gmock/gmock.h>
#include <ounce/search.h>

#include <cmath>
#include <set>

#include "formats/open.h"
#include "quantize/recipe_json.h"
#include "support/commands_example.h"
#include "support/litert.h"

namespace ounce::search {
namespace {

using testing::Each;
using testing::Field;
using testing::Gt;
using testing::SizeIs;

struct TfliteCandidatesTest : ounce::test::LitertTest {
  TfliteCandidatesTest() {
    options.trial.runtime.library = GetParam().string();
    options.trial.data.path = ounce::test::kCalibration;
    options.trial.data.contract = ounce::test::sound();
    options.trial.data.samples = 16;
  }
  static Recipe recipe_in(Format format) {
    Recipe recipe;
    recipe.format = format;
    recipe.fp16_budget = 0;
    return quantization::as_it_is(recipe);
  }
  std::map<std::string, Format> formats(CandidateMaker& maker, const Recipe& recipe) {
    std::map<std::string, Format> found;
    for (const TreatedLayer& treated : maker.layers(recipe)) found[treated.layer.output] = treated.format;
    return found;
  }

  const std::filesystem::path example = OUNCE_EXAMPLES "/commands/commands.tflite";
  QuantizeOptions options;
};
INSTANTIATE_TEST_SUITE_P(Versions, TfliteCandidatesTest, testing::ValuesIn(ounce::test::litert_versions()),
                         ounce::test::version_name);

TEST_P(TfliteCandidatesTest, LayersAreOperatorsWithWeights) {
  const auto maker = make_candidate_maker(example, options);
  const std::vector<TreatedLayer> layers = maker->layers(recipe_in(Format::kW8));
  ASSERT_THAT(layers, SizeIs(Gt(10U)));
  std::set<std::string> outputs, types;
  for (const TreatedLayer& treated : layers) {
    outputs.insert(treated.layer.output);
    types.insert(treated.layer.op_type);
    EXPECT_EQ(treated.format, Format::kW8);
    EXPECT_GT(treated.layer.values, 0U);
  }
  EXPECT_THAT(outputs, SizeIs(layers.size()));
  EXPECT_TRUE(types.contains("CONV_2D"));
  EXPECT_TRUE(layers.front().layer.is_first);
  EXPECT_TRUE(layers.back().layer.is_last);
  EXPECT_FALSE(layers[3].layer.is_first || layers[3].layer.is_last);
}

TEST_P(TfliteCandidatesTest, ALayerIsTreatedAsItsRecipeSays) {
  const auto maker = make_candidate_maker(example, options);
  Recipe recipe = recipe_in(Format::kInt8);
  recipe.integer.use_cost_model = false;
  const auto before = formats(*maker, recipe);
  std::string chosen;
  for (const auto& [output, format] : before) {
    if (format == Format::kInt8) chosen = output;
  }
  ASSERT_FALSE(chosen.empty());
  recipe.nodes[chosen] = Format::kW16;
  const auto after = formats(*maker, recipe);
  EXPECT_EQ(after.at(chosen), Format::kW16);
}

TEST_P(TfliteCandidatesTest, WhatIsMadeIsWhatIsWritten) {
  const auto maker = make_candidate_maker(example, options);
  for (const Format format : {Format::kW8, Format::kInt8Dynamic, Format::kInt8}) {
    const Recipe recipe = recipe_in(format);
    maker->prepare(recipe);
    EXPECT_EQ(maker->ranges(recipe) != nullptr, format == Format::kInt8);
    const auto made = folder / "made.tflite", written = folder / "written.tflite";
    const std::uint64_t bytes = maker->make(recipe, made);
    EXPECT_EQ(bytes, std::filesystem::file_size(made));
    const QuantizeResult result = maker->write(recipe, written);
    EXPECT_LT(result.bytes_after, result.bytes_before);
    VerifyOptions how;
    how.runtime.library = GetParam().string();
    how.data = options.trial.data;
    how.data.samples = 4;
    EXPECT_TRUE(std::isinf(verify(made, written, how).outputs[0].sqnr_db)) << name_of(format);
  }
}

TEST_P(TfliteCandidatesTest, EveryLayerHasAnEstimateOfItsNoise) {
  const auto maker = make_candidate_maker(example, options);
  for (const Format format : {Format::kW8, Format::kInt8}) {
    const Survey survey = maker->survey(recipe_in(format));
    ASSERT_THAT(survey.noise, SizeIs(survey.layers.size()));
    EXPECT_THAT(survey.noise, Each(Gt(0.0))) << name_of(format);
  }
}

TEST_P(TfliteCandidatesTest, FormatsOfOtherModelsAreNotTried) {
  const auto maker = make_candidate_maker(example, options);
  EXPECT_TRUE(maker->can_make(recipe_in(Format::kW4)));
  EXPECT_FALSE(maker->can_make(recipe_in(Format::kNbits4)));
  EXPECT_FALSE(maker->can_make(recipe_in(Format::kFp16)));
  Recipe wide = recipe_in(Format::kInt8);
  wide.integer.activations = ActivationType::kS16;
  EXPECT_FALSE(maker->can_make(wide));
}

TEST_P(TfliteCandidatesTest, TuneFindsAModelThatPasses) {
  TuneOptions tuning;
  tuning.runtime.library = GetParam().string();
  tuning.data = options.trial.data;
  tuning.data.samples = 0;
  tuning.gates.min_sqnr = 20;
  tuning.gates.confidence = 0;
  tuning.budget.models = 40;
  tuning.keep = false;
  const TuneResult result = tune(example, folder / "tuned.tflite", tuning);
  EXPECT_TRUE(result.passed);
  EXPECT_LT(result.best.ratio, 0.5);
  EXPECT_GE(result.best.sqnr_db, 20);
  EXPECT_EQ(formats::open_model(folder / "tuned.tflite")->kind(), ModelKind::kTflite);
}

}  // namespace
}  // namespace ounce::search
