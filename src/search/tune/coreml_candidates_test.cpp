#include "search/tune/coreml_candidates.h"

#include <gmock/gmock.h>
#include <ounce/search.h>

#include <cmath>

#include "quantize/recipe_json.h"
#include "support/coreml_builder.h"
#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

struct CoremlCandidatesTest : testing::Test {
  CoremlCandidatesTest() { coreml::small_coreml(9).write(package); }

  static Recipe recipe_in(Format format) {
    Recipe recipe;
    recipe.format = format;
    recipe.min_bytes = 512;
    return quantization::as_it_is(recipe);
  }

  ounce::test::TemporaryFolder folder;
  const std::filesystem::path package = folder / "net.mlpackage";
};

TEST_F(CoremlCandidatesTest, LayersAreOperationsWithWeights) {
  const auto maker = make_candidate_maker(package, {});
  EXPECT_EQ(maker->extension(), ".mlpackage");
  Recipe recipe = recipe_in(Format::kW8);
  recipe.nodes["product"] = Format::kW4;
  std::map<std::string, Format> formats;
  for (const TreatedLayer& treated : maker->layers(recipe)) formats[treated.layer.output] = treated.format;
  EXPECT_THAT(formats, testing::ElementsAre(testing::Pair("conv", Format::kW8),
                                            testing::Pair("product", Format::kW4)));
}

TEST_F(CoremlCandidatesTest, WhatIsMadeIsWhatIsWritten) {
  const auto maker = make_candidate_maker(package, {});
  for (const Format format : {Format::kW8, Format::kW4, Format::kW6}) {
    const Recipe recipe = recipe_in(format);
    EXPECT_TRUE(maker->can_make(recipe));
    maker->prepare(recipe);
    const auto made = folder / "made.mlpackage", written = folder / "written.mlpackage";
    EXPECT_GT(maker->make(recipe, made), 0U);
    const QuantizeResult result = maker->write(recipe, written);
    EXPECT_LT(result.bytes_after, result.bytes_before);
    VerifyOptions how;
    how.data.samples = 4;
    EXPECT_TRUE(std::isinf(verify(made, written, how).outputs[0].sqnr_db)) << name_of(format);
  }
  EXPECT_FALSE(maker->can_make(recipe_in(Format::kInt8)));
}

TEST_F(CoremlCandidatesTest, EveryLayerHasAnEstimateOfItsNoise) {
  const auto maker = make_candidate_maker(package, {});
  for (const Format format : {Format::kW8, Format::kW2}) {
    const Survey survey = maker->survey(recipe_in(format));
    ASSERT_EQ(survey.noise.size(), survey.layers.size());
    EXPECT_THAT(survey.noise, testing::Each(testing::Gt(0.0))) << name_of(format);
  }
}

}  // namespace
}  // namespace ounce::search
