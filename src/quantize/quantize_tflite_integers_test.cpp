// Static INT8 inference of the example as a .tflite model, in every version of LiteRT that is here.
#include <gmock/gmock.h>
#include <ounce/model.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <algorithm>
#include <utility>

#include "formats/open.h"
#include "formats/tflite/file/reader.h"
#include "support/commands_example.h"
#include "support/error_of.h"
#include "support/litert.h"

namespace ounce {
namespace {

using test::error_of;
using testing::HasSubstr;

struct QuantizeTfliteIntegers : test::LitertTest {
  QuantizeTfliteIntegers() {
    options.recipe.format = Format::kInt8;
    options.trial.runtime.library = GetParam().string();
    options.trial.data.path = test::kCalibration;
    options.trial.data.contract = test::sound();
    options.trial.is_timed = false;
  }
  std::size_t count_of(const QuantizeResult& result, Arithmetic arithmetic) {
    return static_cast<std::size_t>(
        std::count_if(result.nodes.begin(), result.nodes.end(),
                      [&](const NodeOutcome& node) { return node.arithmetic == arithmetic; }));
  }

  const std::filesystem::path example = OUNCE_EXAMPLES "/commands/commands.tflite";
  QuantizeOptions options;
};
INSTANTIATE_TEST_SUITE_P(Versions, QuantizeTfliteIntegers, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

TEST_P(QuantizeTfliteIntegers, ComputesTheExampleOnIntegers) {
  const QuantizeResult result = quantize(example, folder / "small.tflite", options);
  EXPECT_GT(count_of(result, Arithmetic::kStatic), 5U);
  EXPECT_FALSE(result.activations.empty());
  EXPECT_LT(static_cast<double>(result.bytes_after), 0.45 * static_cast<double>(result.bytes_before));
  EXPECT_GT(result.trial.sqnr_db, 20);
  EXPECT_GT(result.sqnr_db, 35);  // of the weights
}

TEST_P(QuantizeTfliteIntegers, GivesTheSameFileAgain) {
  options.recipe.integer.search = false;
  quantize(example, folder / "a.tflite", options);
  options.threads = 1;
  quantize(example, folder / "b.tflite", options);
  EXPECT_TRUE(
      tflite::same_content(tflite::read_model(folder / "a.tflite"), tflite::read_model(folder / "b.tflite")));
}

TEST_P(QuantizeTfliteIntegers, TakesAndGivesIntegersOfTheAskedType) {
  options.recipe.integer.search = false;
  options.recipe.integer.integer_io = true;
  for (const auto& [activations, type] : {std::pair(ActivationType::kU8, ElementType::kUint8),
                                          std::pair(ActivationType::kS8, ElementType::kInt8)}) {
    options.recipe.integer.activations = activations;
    const QuantizeResult result = quantize(example, folder / "small.tflite", options);
    EXPECT_TRUE(result.trial.is_tried);
    EXPECT_GT(result.trial.sqnr_db, 10);  // on the same data, with the scales of the ports
    const auto file = formats::open_model(folder / "small.tflite");
    EXPECT_EQ(file->inputs()[0].type, type);
    EXPECT_EQ(file->outputs()[0].type, type);
    EXPECT_EQ(file->quantized_ports().size(), 2U);
    VerifyOptions how;
    how.runtime.library = GetParam().string();
    how.data = options.trial.data;
    how.data.samples = 16;
    EXPECT_GT(verify(example, folder / "small.tflite", how).outputs[0].sqnr_db, 10);
  }
}

TEST_P(QuantizeTfliteIntegers, Refuses16BitActivations) {
  options.recipe.integer.activations = ActivationType::kS16;
  EXPECT_THAT(error_of([&] { quantize(example, folder / "16.tflite", options); }).what(),
              HasSubstr("16-bit activations"));
}

TEST_P(QuantizeTfliteIntegers, KeepsInFloatsWhatAnOldReleaseDoesNotRun) {
  options.recipe.integer.search = false;
  options.recipe.target = "android-arm64@tflite-2.9.0";
  quantize(example, folder / "old.tflite", options);
  const CheckReport report = check(folder / "old.tflite", {.targets = {"android-arm64@tflite-2.9.0"}});
  EXPECT_EQ(report.targets.front().broken, 0U);
  options.recipe.target = "android-arm64@tflite-1.0.banana";
  EXPECT_EQ(error_of([&] { quantize(example, folder / "no.tflite", options); }).code(), ErrorCode::kUsage);
  options.recipe.target = "linux-x64@1.30.0";
  EXPECT_THAT(error_of([&] { quantize(example, folder / "no.tflite", options); }).what(),
              HasSubstr("not valid for a TFLite model"));
}

TEST_P(QuantizeTfliteIntegers, AsksForData) {
  options.trial.data.path.clear();
  EXPECT_THAT(error_of([&] { quantize(example, folder / "small.tflite", options); }).what(),
              HasSubstr("needs calibration data"));
}

TEST_P(QuantizeTfliteIntegers, RefusesWhatWouldComputeInFloatsAlone) {
  options.recipe.integer.search = false;
  options.recipe.exclude = {"."};
  EXPECT_THAT(error_of([&] { quantize(example, folder / "small.tflite", options); }).what(),
              HasSubstr("nothing would run in INT8"));
}

}  // namespace
}  // namespace ounce
