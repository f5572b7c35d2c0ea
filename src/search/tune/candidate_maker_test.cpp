#include "search/tune/measuring_evaluator.h"

#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "support/error_of.h"
#include "support/fatal_bench.h"

namespace ounce::search {
namespace {

using ounce::test::error_of;
using test::FatalBench;
using test::recipe_in;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct CandidateMakerTest : testing::Test {
  // The format of each layer, in the order of the file.
  std::vector<Format> formats(const Recipe& recipe) {
    std::vector<Format> found;
    for (const TreatedLayer& treated : bench.maker.layers(recipe)) found.push_back(treated.format);
    return found;
  }
  static Recipe mixed(Format format, const std::string& output, Format other) {
    Recipe recipe = recipe_in(format);
    recipe.nodes[output] = other;
    return recipe;
  }
  FatalBench bench;
};

TEST_F(CandidateMakerTest, LayersStandInTheOrderOfTheFile) {
  std::vector<std::string> names, outputs;
  for (const TreatedLayer& treated : bench.maker.layers(recipe_in(Format::kW8))) {
    names.push_back(treated.layer.name);
    outputs.push_back(treated.layer.output);
    EXPECT_EQ(treated.layer.op_type, "MatMul");
  }
  EXPECT_THAT(names, ElementsAre("first", "second", "third", "fourth", "fifth"));
  EXPECT_THAT(outputs, ElementsAre("first.sum", "second.sum", "third.sum", "fourth.sum", "y"));
}

TEST_F(CandidateMakerTest, AFormatIsForAllLayers) {
  for (const Format format : {Format::kW8, Format::kW4, Format::kW16, Format::kInt8Dynamic, Format::kInt8}) {
    Recipe recipe = recipe_in(format);
    recipe.fp16_budget = 0;
    EXPECT_EQ(formats(recipe), std::vector(5, format)) << static_cast<int>(format);
  }
}

TEST_F(CandidateMakerTest, SingleLayersAreTreatedOtherwise) {
  for (const Format format : {Format::kW8, Format::kInt8Dynamic, Format::kInt8}) {
    for (const Format other : {Format::kW16, Format::kFp32, Format::kW4}) {
      Recipe recipe = mixed(format, "third.sum", other);
      recipe.fp16_budget = 0;
      EXPECT_THAT(formats(recipe), ElementsAre(format, format, other, format, format))
          << static_cast<int>(format) << " " << static_cast<int>(other);
    }
  }
  EXPECT_THAT(formats(mixed(Format::kInt8, "first.sum", Format::kInt8Dynamic)).front(), Format::kInt8Dynamic);
}

TEST_F(CandidateMakerTest, SmallLayersAreNoneUnlessTheyCompute) {
  Recipe recipe = recipe_in(Format::kW8);
  recipe.min_bytes = 4000;  // "fifth" has 1280
  EXPECT_EQ(formats(recipe).size(), 4U);
  recipe.format = Format::kInt8Dynamic;
  EXPECT_EQ(formats(recipe).size(), 5U);
}

TEST_F(CandidateMakerTest, WhatIsMadeHasTheBytesThatAreReported) {
  std::map<Format, std::uint64_t> bytes;
  for (const Format format : {Format::kW8, Format::kW4, Format::kW16, Format::kInt8Dynamic}) {
    const auto file = bench.folder / "made.onnx";
    bytes[format] = bench.maker.make(recipe_in(format), file);
    EXPECT_EQ(bytes[format], std::filesystem::file_size(file));
    std::filesystem::remove(file);
  }
  EXPECT_LT(bytes[Format::kW4], bytes[Format::kW8]);
  EXPECT_LT(bytes[Format::kW8], bytes[Format::kW16]);
  EXPECT_LT(bytes[Format::kW16], std::filesystem::file_size(bench.model));
}

TEST_F(CandidateMakerTest, TheSameMixIsTheSameFileInEveryThread) {
  const Recipe recipe = mixed(Format::kInt8, "third.sum", Format::kW16);
  ASSERT_NE(bench.maker.prepared(recipe), nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { bench.maker.make(recipe, bench.folder / std::to_string(i)); });
  for (std::thread& thread : threads) thread.join();
  const std::string first = ounce::test::read_file(bench.folder / "0");
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(ounce::test::read_file(bench.folder / std::to_string(i)) == first);
}

TEST_F(CandidateMakerTest, WhatIsWrittenComputesAsWhatWasMeasured) {
  const Recipe recipe = mixed(Format::kW8, "third.sum", Format::kW16);
  bench.maker.make(recipe, bench.folder / "made.onnx");
  bench.maker.write(recipe, bench.folder / "written.onnx");
  VerifyOptions how;
  how.data = bench.options.data;
  how.gates.max_abs_diff = 0;
  EXPECT_TRUE(verify(bench.folder / "made.onnx", bench.folder / "written.onnx", how).passed);
}

TEST_F(CandidateMakerTest, GroundsAreMadeOnce) {
  EXPECT_EQ(bench.maker.prepared(recipe_in(Format::kW8)), bench.maker.prepared(recipe_in(Format::kW4)));
  EXPECT_EQ(bench.maker.prepared(recipe_in(Format::kInt8)), bench.maker.prepared(recipe_in(Format::kInt8)));
  EXPECT_NE(bench.maker.prepared(recipe_in(Format::kW8)), bench.maker.prepared(recipe_in(Format::kInt8)));
}

TEST_F(CandidateMakerTest, AWideOneHasAPreparedModelOfItsOwn) {
  Recipe wide = recipe_in(Format::kInt8);
  wide.integer.activations = ActivationType::kS16;
  EXPECT_NE(bench.maker.prepared(wide), bench.maker.prepared(recipe_in(Format::kInt8)));
  EXPECT_THAT(formats(wide), Each(Format::kInt8));
}

TEST_F(CandidateMakerTest, NothingTakesThePlaceOfTheModel) {
  const std::string before = ounce::test::read_file(bench.model);
  EXPECT_THROW(bench.maker.write(recipe_in(Format::kW8), bench.model), Error);
  EXPECT_TRUE(ounce::test::read_file(bench.model) == before);
}

TEST(CandidateMakerTargetTest, ATargetDecidesWhatIsWritten) {
  FatalBench bench(30, "android-arm64@1.17.3");
  for (const Format format : {Format::kW8, Format::kInt8Dynamic, Format::kInt8}) {
    const auto file = bench.folder / "made.onnx";
    bench.maker.make(recipe_in(format), file);
    EXPECT_TRUE(std::filesystem::exists(file));
    std::filesystem::remove(file);
  }
}

TEST(CandidateMakerTargetTest, AnUnknownTargetIsRefused) {
  FatalBench bench(30, "nowhere");
  const Error error = error_of([&] { bench.maker.make(recipe_in(Format::kW8), bench.folder / "made.onnx"); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace ounce::search
