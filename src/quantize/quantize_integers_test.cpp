// Static and dynamic INT8 on the example and on small models, in every installed version of ONNX Runtime.
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <algorithm>
#include <filesystem>

#include "runtime/ort/library.h"
#include "support/commands_example.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using test::error_of;
using test::GraphBuilder;
using test::kCalibration;
using test::kClips;
using test::kExample;
using test::kFloat;
using test::ModelBuilder;
using test::sound;
using testing::Contains;
using testing::HasSubstr;

std::size_t count_of(const QuantizeResult& result, const std::string& op, Arithmetic arithmetic) {
  return static_cast<std::size_t>(std::count_if(
      result.nodes.begin(), result.nodes.end(),
      [&](const NodeOutcome& node) { return node.op_type == op && node.arithmetic == arithmetic; }));
}

struct IntegerTest : testing::TestWithParam<std::filesystem::path> {
  void SetUp() override {
    if (test::has_wrong_amx_kernels(GetParam().parent_path().parent_path().filename().string()))
      GTEST_SKIP() << "this release gives wrong INT8 results on CPUs with AMX";
  }
  IntegerTest() {
    options.recipe.format = Format::kInt8;
    options.trial.runtime.library = GetParam().string();
    options.trial.data.path = kCalibration;
    options.trial.data.contract = sound();
  }
  // Verifies a model on labeled samples.
  VerifyResult judge(const std::filesystem::path& model) const {
    VerifyOptions how;
    how.runtime.library = GetParam().string();
    how.data.path = kClips;
    how.data.labels = "label";
    how.data.contract = sound();
    how.edge_cases = false;
    return verify(kExample, model, how);
  }
  test::TemporaryFolder folder;
  QuantizeOptions options;
};

TEST_P(IntegerTest, StaticKeepsTheAnswersOfTheExample) {
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
  EXPECT_LT(result.ratio(), 0.30);
  EXPECT_EQ(count_of(result, "Conv", Arithmetic::kStatic), 29U);
  EXPECT_EQ(count_of(result, "Gemm", Arithmetic::kStatic), 1U);
  EXPECT_EQ(count_of(result, "Add", Arithmetic::kStatic), 5U);
  EXPECT_FALSE(result.activations.empty());
  EXPECT_THAT(result.notes, Contains(HasSubstr("Calibration: ")));
  const VerifyResult verdict = judge(folder / "small.onnx");
  EXPECT_TRUE(verdict.passed) << verdict.verdict;
  EXPECT_GT(verdict.outputs.at(0).sqnr_db, 28);
  EXPECT_LE(verdict.metrics.at(0).drop, 0.005);
}

TEST_P(IntegerTest, BothDialectsGiveTheSameAnswers) {
  options.recipe.integer.search = false;
  quantize(kExample, folder / "qdq.onnx", options);
  options.recipe.integer.dialect = Dialect::kQOperator;
  const QuantizeResult result = quantize(kExample, folder / "qoperator.onnx", options);
  EXPECT_LT(result.bytes_after, std::filesystem::file_size(folder / "qdq.onnx"));
  VerifyOptions how;
  how.runtime.library = GetParam().string();
  how.data.path = kClips;
  how.data.samples = 32;
  how.data.contract = sound();
  how.edge_cases = false;
  // Fusion in the runtime may change a rounding by one step.
  EXPECT_GT(verify(folder / "qdq.onnx", folder / "qoperator.onnx", how).outputs.at(0).sqnr_db, 40);
}

TEST_P(IntegerTest, ARangesFileStandsForTheData) {
  CalibrateOptions how;
  how.data = options.trial.data;
  how.runtime.library = GetParam().string();
  calibrate(kExample, folder / "example.ranges", how);
  options.ranges = folder / "example.ranges";
  options.trial.data = {};
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
  EXPECT_EQ(count_of(result, "Conv", Arithmetic::kStatic), 29U);
  EXPECT_TRUE(judge(folder / "small.onnx").passed);
}

TEST_P(IntegerTest, IntegerInputsAndOutputsAreHeldAgainstFloats) {
  options.recipe.integer.integer_io = true;
  options.recipe.integer.search = false;
  quantize(kExample, folder / "small.onnx", options);
  const VerifyResult verdict = judge(folder / "small.onnx");
  EXPECT_TRUE(verdict.passed) << verdict.verdict;
  EXPECT_LE(verdict.metrics.at(0).drop, 0.01);
}

TEST_P(IntegerTest, DynamicLeavesConvolutionsAlone) {
  options.recipe.format = Format::kInt8Dynamic;
  options.trial.data = {};
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
  EXPECT_EQ(count_of(result, "MatMul", Arithmetic::kDynamic), 1U);
  EXPECT_EQ(count_of(result, "Conv", Arithmetic::kFloat), 29U);
  EXPECT_GT(result.trial.sqnr_db, 30);
  options.recipe.integer.dynamic_conv = true;
  options.trial.allow_slower = true;
  EXPECT_EQ(count_of(quantize(kExample, folder / "forced.onnx", options), "Conv", Arithmetic::kDynamic), 29U);
}

INSTANTIATE_TEST_SUITE_P(Versions, IntegerTest, testing::ValuesIn(runtime::Library::installed()),
                         test::version_name);

// The following tests do not depend on the version of the runtime.
struct Integer : testing::Test {
  Integer() {
    options.recipe.format = Format::kInt8;
    options.trial.data.path = kCalibration;
    options.trial.data.contract = sound();
    options.trial.data.samples = 16;
  }
  std::filesystem::path write(const ModelBuilder& model) const {
    test::write_file(folder / "model.onnx", model.bytes());
    return folder / "model.onnx";
  }
  std::filesystem::path write_npy(std::size_t samples, std::size_t width, float last) const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(samples) +
                         ", " + std::to_string(width) + ", 1, 1), }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += {'\1', '\0', static_cast<char>(header.size() & 255U), static_cast<char>(header.size() >> 8U)};
    std::vector<float> values(samples * width);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.01F * static_cast<float>((i * 7919) % 201) - 1;
    if (last != 0) std::fill(values.begin(), values.end(), last);
    test::write_file(folder / "data.npy", bytes + header + test::raw_floats(values));
    return folder / "data.npy";
  }
  test::TemporaryFolder folder;
  QuantizeOptions options;
};

TEST_F(Integer, GivesTheSameBytesAgainAndForAnyNumberOfThreads) {
  options.threads = 1;
  quantize(kExample, folder / "one.onnx", options);
  options.threads = 3;
  quantize(kExample, folder / "three.onnx", options);
  EXPECT_EQ(test::read_file(folder / "one.onnx"), test::read_file(folder / "three.onnx"));
}

TEST_F(Integer, AdaptiveRoundingBringsLayersCloserToWhatTheyGave) {
  options.trial.allow_slower = true;  // there are no kernels for 4-bit weights
  options.recipe.integer.search = false;
  options.recipe.integer.weights = WeightType::kS4;
  const double balanced = quantize(kExample, folder / "a.onnx", options).trial.sqnr_db;
  options.recipe.rounding = Rounding::kAdaptive;
  const QuantizeResult adaptive = quantize(kExample, folder / "b.onnx", options);
  EXPECT_GT(adaptive.trial.sqnr_db, balanced + 2);
  EXPECT_THAT(adaptive.notes, Contains(HasSubstr("adaptive rounding of 30 layers")));
}

TEST_F(Integer, StaticWithoutDataIsRefused) {
  options.trial.data = {};
  const Error error = error_of([&] { quantize(kExample, folder / "x.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("give `data`"));
}

TEST_F(Integer, AFolderThatDoesNotExistIsNoticedBeforeTheWork) {
  options.trial.data.path = "nothing.npz";  // would be the next error
  const Error error = error_of([&] { quantize(kExample, folder / "no" / "x.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("x.onnx: cannot write: No such file or directory"));
}

TEST_F(Integer, RangesOfAnotherModelAreRefused) {
  test::write_file(folder / "x.ranges",
                   R"({"format":"ounce.ranges","version":2,"model":"another","samples":1,"values":{}})");
  options.ranges = folder / "x.ranges";
  const Error error = error_of([&] { quantize(kExample, folder / "x.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("another model"));
}

TEST_F(Integer, WhatNoRuntimeHasKernelsForIsRefused) {
  const auto refused = [&](const QuantizeOptions& asked) {
    return error_of([&] { quantize(kExample, folder / "x.onnx", asked); }).code();
  };
  QuantizeOptions asked = options;
  asked.recipe.integer.dialect = Dialect::kQOperator;
  asked.recipe.integer.activations = ActivationType::kS16;
  EXPECT_EQ(refused(asked), ErrorCode::kUsage);
  asked.recipe.integer.activations = ActivationType::kS8;
  asked.recipe.integer.weights = WeightType::kU8;
  EXPECT_EQ(refused(asked), ErrorCode::kUsage);
  asked = options;
  asked.recipe.granularity = {GranularityKind::kBlock, 32};
  EXPECT_EQ(refused(asked), ErrorCode::kUsage);
  asked = options;
  asked.recipe.format = Format::kInt8Dynamic;
  asked.recipe.integer.weights = WeightType::kS4;
  EXPECT_EQ(refused(asked), ErrorCode::kUsage);
  asked = options;
  asked.recipe.format = Format::kW8;
  asked.recipe.rounding = Rounding::kAdaptive;
  EXPECT_EQ(refused(asked), ErrorCode::kUsage);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.onnx"));
}

// Layers so small that quantizing their inputs takes more time than INT8 kernels save.
ModelBuilder tiny_layers() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8}).output("v200", kFloat, {1, 8});
  for (int i = 0; i < 200; ++i) {
    const std::string weight = "w" + std::to_string(i), from = i == 0 ? "x" : "v" + std::to_string(i);
    std::vector<float> values(64);
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = k % 9 == 0 ? 1 : 0.01F * static_cast<float>(k % 5);
    model.initializer(weight, {8, 8}, values);
    model.node("MatMul", {from, weight}, {"m" + std::to_string(i)});
    model.node("Tanh", {"m" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  return model;
}

TEST_F(Integer, AModelThatIsSlowerIsNotWritten) {
  options.recipe.format = Format::kInt8Dynamic;
  options.recipe.min_bytes = 0;
  options.trial.data = {};
  const std::filesystem::path model = write(tiny_layers());
  const Error error = error_of([&] { quantize(model, folder / "x.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("the speed of the original"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x.onnx"));

  options.trial.allow_slower = true;
  const QuantizeResult result = quantize(model, folder / "x.onnx", options);
  EXPECT_LT(result.trial.speed_up->high, 0.95);
  EXPECT_GT(result.trial.seconds_after, result.trial.seconds_before);
  EXPECT_THAT(result.notes, Contains(HasSubstr("the speed of the original")));
  EXPECT_EQ(result.trial.kernels->integer, 200U);
}

TEST_F(Integer, ATargetThatThisCpuIsNotMayBeSlowerHere) {
  options.recipe.format = Format::kInt8Dynamic;
  options.recipe.min_bytes = 0;
  options.recipe.target = "android-arm64";
  options.trial.data = {};
  const QuantizeResult result = quantize(write(tiny_layers()), folder / "x.onnx", options);
  EXPECT_THAT(result.notes, Contains(HasSubstr("the speed of the original")));
}

TEST_F(Integer, ASecondTimeThereIsNothingLeftToDo) {
  options.recipe.integer.search = false;
  quantize(kExample, folder / "small.onnx", options);
  EXPECT_THAT(error_of([&] { quantize(folder / "small.onnx", folder / "x.onnx", options); }).what(),
              HasSubstr("Already quantized by Ounce (int8)"));
  options.recipe.integer.dialect = Dialect::kQOperator;
  quantize(kExample, folder / "ops.onnx", options);
  const Error error = error_of([&] { quantize(folder / "ops.onnx", folder / "x.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("Already quantized by Ounce (int8)"));
}

TEST_F(Integer, FewSamplesAreUsedWithCareAndSaidSo) {
  options.trial.data.samples = 2;
  const QuantizeResult result = quantize(kExample, folder / "x.onnx", options);
  EXPECT_THAT(result.notes, Contains(HasSubstr("calibrated on 2 samples only")));
  for (const ActivationOutcome& activation : result.activations)
    EXPECT_EQ(activation.method, CalibrationMethod::kMinMax) << activation.name;
}

// The second Conv subtracts two nearly equal outputs of the first: a small difference of large numbers, which
// 8 bits cannot represent.
ModelBuilder cancelling() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 1, 1}).output("y", kFloat, {1, 1, 1, 1});
  model.initializer("w1", {2, 4, 1, 1}, {900, -700, 800, 600, -900, 700, -800, -599.9F});
  model.initializer("w2", {1, 2, 1, 1}, {1, 1});
  model.node("Conv", {"x", "w1"}, {"h"}).node("Conv", {"h", "w2"}, {"y"});
  // A weight that can always be compressed.
  std::vector<float> wide(2048);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = 0.001F * static_cast<float>((i * 7919) % 1999) - 1;
  model.initializer("w3", {4, 512}, wide).output("z", kFloat, {1, 512});
  model.node("Flatten", {"x"}, {"flat"}).node("MatMul", {"flat", "w3"}, {"z"});
  return model;
}

TEST_F(Integer, AModelThatDoesNotStandIntegersStaysInFloats) {
  options.trial.data = {};
  options.trial.data.path = write_npy(32, 4, 0);
  const QuantizeResult result = quantize(write(cancelling()), folder / "x.onnx", options);
  EXPECT_GT(result.trial.sqnr_db, 20);
  EXPECT_GE(count_of(result, "Conv", Arithmetic::kFloat), 1U);
  EXPECT_EQ(count_of(result, "MatMul", Arithmetic::kStatic), 1U);
  options.recipe.integer.search = false;
  EXPECT_LT(quantize(folder / "model.onnx", folder / "y.onnx", options).trial.sqnr_db, 10);
}

// With a bias that is zero, or too small for the INT32 scale, and inputs with a nonzero mean, the written
// bias consists of the correction only.
TEST_F(Integer, ABiasMayBeNothingButItsCorrection) {
  for (const float bias : {0.0F, 1e-6F}) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 64, 1, 1}).output("y", kFloat, {1, 32, 1, 1});
    std::vector<float> weights(2048);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 0.01F * static_cast<float>((i * 7919) % 197) - 1;
    model.initializer("w", {32, 64, 1, 1}, weights).initializer("b", {32}, std::vector<float>(32, bias));
    model.node("Conv", {"x", "w", "b"}, {"y"});
    options.trial.data = {};
    options.trial.data.path = write_npy(32, 64, 0);
    options.recipe.integer.search = false;
    options.recipe.rounding = Rounding::kNearest;
    EXPECT_GT(quantize(write(model), folder / "x.onnx", options).trial.sqnr_db, 25) << bias;
  }
}

TEST_F(Integer, RoundingForOutputsLeavesNothingToCorrect) {
  options.trial.allow_slower = true;  // there are no kernels for 4-bit weights
  options.recipe.integer.search = false;
  options.recipe.integer.weights = WeightType::kS4;
  options.recipe.rounding = Rounding::kAdaptive;
  const double asked = quantize(kExample, folder / "a.onnx", options).trial.sqnr_db;
  options.recipe.integer.correct_bias = false;
  EXPECT_EQ(quantize(kExample, folder / "b.onnx", options).trial.sqnr_db, asked);
}

// The digest names the data file, so different quantized values need different digests.
TEST_F(Integer, OtherCodesHaveAnotherDigest) {
  options.recipe.integer.search = options.recipe.integer.equalize = false;
  options.recipe.rounding = Rounding::kAdaptive;
  CalibrateOptions how;
  how.data = options.trial.data;
  calibrate(kExample, folder / "x.ranges", how);
  options.ranges = folder / "x.ranges";
  const std::string first = quantize(kExample, folder / "a.onnx", options).plan_digest;
  options.trial.data.first = 16;
  EXPECT_NE(quantize(kExample, folder / "b.onnx", options).plan_digest, first);
}

TEST_F(Integer, AFileOfRangesAndRangesByHandAreKept) {
  CalibrateOptions how;
  how.data = options.trial.data;
  calibrate(kExample, folder / "x.ranges", how);
  options.ranges = folder / "x.ranges";
  options.recipe.integer.values["audio"].range = ValueRange{-1, 1};
  options.trial.data.samples = 1;
  const QuantizeResult result = quantize(kExample, folder / "a.onnx", options);
  for (const std::string& note : result.notes) EXPECT_EQ(note.find("evened out"), std::string::npos) << note;
  for (const ActivationOutcome& activation : result.activations) {
    if (activation.name != "audio") continue;
    EXPECT_NEAR(activation.scale, 2.0 / 255, 1e-6);
  }
}

TEST_F(Integer, AValueThatNeverVariesStaysAFloat) {
  options.trial.data = {};
  options.trial.data.path = write_npy(32, 4, 0.5F);
  const Error error = error_of([&] { quantize(write(cancelling()), folder / "x.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);  // no other op can run in INT8
  EXPECT_THAT(error.what(), HasSubstr("'x' is constant in the calibration data"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x.onnx"));
}

}  // namespace
}  // namespace ounce
