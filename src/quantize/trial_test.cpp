// The trial of quantize() in the runtime before the result gets its name.
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <cmath>
#include <filesystem>

#include "runtime/ort/library.h"
#include "support/commands_example.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using test::kExample;
using testing::HasSubstr;

// y = op(x · w), with x [1, 64].
std::string model_with(const std::string& op_type, const std::string& domain = {}) {
  test::ModelBuilder model(13, 7);
  std::vector<float> weights(64 * 64);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 17) / 17 - 0.5F;
  model.input("x", test::kFloat, {1, 64})
      .output("y", test::kFloat, {1, 64})
      .initializer("w", {64, 64}, weights);
  model.node("MatMul", {"x", "w"}, {"p"});
  model.add(1, test::node(op_type, {"p"}, {"y"}, {}, {}, domain));
  return model.bytes();
}

TEST(Trial, TheResultIsRunInEveryVersionOfTheRuntime) {
  const test::TemporaryFolder folder;
  for (const auto& library : runtime::Library::installed()) {
    QuantizeOptions options;
    options.trial.runtime.library = library.string();
    const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
    EXPECT_TRUE(result.trial.is_tried) << library;
    EXPECT_TRUE(result.trial.is_generated);
    EXPECT_EQ(result.trial.samples, 4U);
    EXPECT_GT(result.trial.sqnr_db, 30) << library;
  }
}

TEST(Trial, DataIsUsedWhenThereIsAny) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  options.trial.data.path = OUNCE_EXAMPLES "/commands/commands_val.npz";
  Contract contract;
  contract.inputs["audio"].rescale_factor = 1.0 / 32768;
  contract.inputs["audio"].kind = InputKind::kAudio;
  options.trial.data.contract = contract;
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
  EXPECT_FALSE(result.trial.is_generated);
  EXPECT_EQ(result.trial.samples, 32U);
  EXPECT_GT(result.trial.sqnr_db, 30);
}

// As in verify(), the error of a state shows in the outputs of later runs.
TEST(Trial, AStateIsNoOutputThatIsCompared) {
  const test::TemporaryFolder folder;
  test::ModelBuilder model(13, 7);
  std::vector<float> weights(64 * 64);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 17) / 17 - 0.5F;
  model.input("x", test::kFloat, {1, 64}).input("state", test::kFloat, {1, 64});
  model.output("y", test::kFloat, {1, 64}).output("state_out", test::kFloat, {1, 64});
  model.initializer("w", {64, 64}, weights);
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node("Add", {"p", "state"}, {"state_out"});
  model.node("Relu", {"x"}, {"y"});
  test::write_file(folder / "model.onnx", model.bytes());
  QuantizeOptions options;
  options.recipe.format = Format::kW4;
  options.trial.data.carry = {{"state", "state_out"}};
  const QuantizeResult result = quantize(folder / "model.onnx", folder / "small.onnx", options);
  EXPECT_EQ(result.stored_count(), 1U);
  EXPECT_TRUE(result.trial.is_tried);
  EXPECT_TRUE(std::isinf(result.trial.sqnr_db)) << result.trial.sqnr_db;
}

TEST(Trial, ExternalDataWithoutANameYetIsFound) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  options.external_data = ExternalData::kAlways;
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
  EXPECT_TRUE(result.trial.is_tried);
  EXPECT_GT(result.trial.sqnr_db, 30);
}

TEST(Trial, AnOriginalThatTheRuntimeDoesNotKnowIsRefusedUnlessNoTrialIsWanted) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "model.onnx", model_with("Unheard", "somebody.else"));
  QuantizeOptions options;
  const Error error =
      test::error_of([&] { quantize(folder / "model.onnx", folder / "small.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("`trial.is_wanted=false`"));
  EXPECT_FALSE(std::filesystem::exists(folder / "small.onnx"));
  options.trial.is_wanted = false;
  EXPECT_FALSE(quantize(folder / "model.onnx", folder / "small.onnx", options).trial.is_tried);
  EXPECT_TRUE(std::filesystem::exists(folder / "small.onnx"));
}

TEST(Trial, ARuntimeThatDoesNotExistIsAnError) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  options.trial.runtime.library = "1.2.3";
  const Error error = test::error_of([&] { quantize(kExample, folder / "small.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_FALSE(std::filesystem::exists(folder / "small.onnx"));
}

}  // namespace
}  // namespace ounce
