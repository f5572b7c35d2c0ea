#include "target/ort/model_support.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "target/ort/requirements.h"

namespace ounce::target {
namespace {

using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt32;
using ounce::test::kInt64;
using ounce::test::kInt8;
using ounce::test::kUint8;
using ounce::test::ModelBuilder;
using ounce::test::tensor;
using ::testing::HasSubstr;

constexpr int kHalf = 10;

ModelSupport support(const GraphBuilder& model, const char* target) {
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index = graph::validate(read);
  return support_of(read, index, parse_target(target));
}

Verdict verdict(const GraphBuilder& model, const char* target) {
  return support(model, target).check.verdict;
}

// A Conv as quantized by onnxruntime.quantization.
ModelBuilder dynamic_conv(int weight_type) {
  ModelBuilder model(13);
  model.input("x", kFloat, {1, 3, 8, 8}).output("y", kInt32, {1, 4, 6, 6});
  model.node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"}, {}, "coded");
  model.initializer(tensor("w", weight_type, {4, 3, 3, 3}, std::string(108, '\1')));
  model.initializer(tensor("wz", weight_type, {}, std::string(1, '\0')));
  model.node("ConvInteger", {"q", "w", "z", "wz"}, {"y"}, {}, "product");
  return model;
}

TEST(SupportOf, FlagsWhatCrashesOnThePhone) {
  for (const char* old :
       {"android-arm64@1.22.0", "linux-x64@1.22.0", "windows-x64@1.17.3", "linux-arm64@1.14.0"}) {
    const ModelSupport broken = support(dynamic_conv(kInt8), old);
    EXPECT_EQ(broken.check.verdict, Verdict::kNotImplemented) << old;
    EXPECT_FALSE(broken.check.loads()) << old;
    ASSERT_EQ(broken.check.findings.size(), 1U) << old;
    EXPECT_EQ(broken.check.findings[0].name, "product");
    EXPECT_EQ(broken.check.findings[0].types, "T1=uint8 T2=int8");
    EXPECT_EQ(verdict(dynamic_conv(kUint8), old), Verdict::kRuns) << old;
  }
  for (const char* fresh : {"android-arm64@1.30.0", "linux-x64@1.30.0", "linux-x64@1.26.0"})
    EXPECT_EQ(verdict(dynamic_conv(kInt8), fresh), Verdict::kRuns) << fresh;
}

TEST(SupportOf, NeverGuesses) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).output("y", kFloat, {1});
  model.node("Optional", {"x"}, {"h"}).node("Relu", {"h"}, {"y"});
  const ModelSupport unknown = support(model, "linux-x64@1.30.0");
  EXPECT_EQ(unknown.check.verdict, Verdict::kUnknown);
  EXPECT_EQ(unknown.check.unknown, 1U);  // only Optional: the output of Relu is FP32, so its input is, too
  EXPECT_EQ(unknown.check.runs, 1U);
  EXPECT_THAT(unknown.check.findings[0].why, HasSubstr("not measured"));
  EXPECT_EQ(verdict(model, "linux-x64@1.99.0"), Verdict::kUnknown);
  EXPECT_EQ(support(model, "linux-x64@1.99.0").check.measured, "");
}

// If the file lacks a property, the answer is known only if it does not depend on that property.
TEST(SupportOf, AnswersWhatDoesNotDependOnTheUnknown) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 8, 8}).output("y", kFloat, {1, 3, 8, 8});
  model.node("Relu", {"x"}, {"h"}).node("GlobalAveragePool", {"h"}, {"p"}).node("Mul", {"h", "p"}, {"y"});
  EXPECT_EQ(verdict(model, "linux-x64@1.30.0"), Verdict::kRuns);  // the rank of h is not declared
}

TEST(SupportOf, TellsSlowFromFast) {
  ModelBuilder model;
  model.input("x", kHalf, {4}).output("y", kHalf, {4}).node("Sigmoid", {"x"}, {"y"});
  const ModelSupport slow = support(model, "linux-x64@1.30.0");
  EXPECT_EQ(slow.check.verdict, Verdict::kSlow);
  EXPECT_TRUE(slow.check.loads());
  EXPECT_THAT(slow.check.findings[0].why, HasSubstr("converted"));
}

// DequantizeLinear of a weight: releases that fuse it dequantize once, others on every run.
ModelBuilder stored_weight(const char* op, const ounce::test::Dims& input, const ounce::test::Dims& weight) {
  ModelBuilder model(17);
  std::size_t size = 1;
  for (const std::int64_t dim : weight) size *= static_cast<std::size_t>(dim);
  model.input("x", kFloat, input).output("y", kFloat, {}).initializer("s", {}, {0.5F});
  model.initializer(tensor("codes", kInt8, weight, std::string(size, '\1')));
  model.node("DequantizeLinear", {"codes", "s"}, {"w"}).node(op, {"x", "w"}, {"y"}, {}, "product");
  return model;
}

TEST(SupportOf, KnowsWhatIsFused) {
  const ModelBuilder conv = stored_weight("Conv", {1, 3, 8, 8}, {4, 3, 3, 3});
  const ModelBuilder gemm = stored_weight("MatMul", {1, 16}, {16, 8});
  EXPECT_EQ(verdict(conv, "linux-x64@1.22.0"), Verdict::kSlow);
  EXPECT_EQ(verdict(conv, "linux-x64@1.30.0"), Verdict::kSlow);
  EXPECT_EQ(verdict(gemm, "linux-x64@1.22.0"), Verdict::kSlow);
  EXPECT_EQ(verdict(gemm, "linux-x64@1.30.0"), Verdict::kRuns);  // MatMulNBits
  EXPECT_THAT(support(conv, "linux-x64@1.30.0").check.findings[0].why, HasSubstr("on every run"));
}

TEST(SupportOf, KnowsTheLimitsOfReleases) {
  ModelBuilder opset(21);
  opset.input("x", kFloat, {1}).output("y", kFloat, {1}).node("Abs", {"x"}, {"y"});
  const ModelSupport old = support(opset, "linux-x64@1.17.3");
  EXPECT_EQ(old.check.verdict, Verdict::kNotImplemented);
  EXPECT_THAT(old.check.problems.at(0), HasSubstr("opset 21; this release loads up to 20"));
  EXPECT_EQ(verdict(opset, "linux-x64@1.22.0"), Verdict::kRuns);
  ModelBuilder ir(17, 11);
  ir.input("x", kFloat, {1}).output("y", kFloat, {1}).node("Abs", {"x"}, {"y"});
  EXPECT_THAT(support(ir, "linux-x64@1.22.0").check.problems.at(0), HasSubstr("IR version 11"));
}

TEST(SupportOf, LooksIntoBranchesAndFunctions) {
  GraphBuilder branch;
  branch.output("e", kInt32, {1, 4, 6, 6}).node("ConvInteger", {"q", "w"}, {"e"});
  ModelBuilder model(13);
  model.input("q", kUint8, {1, 3, 8, 8}).input("c", kBool, {}).output("y", kInt32, {1, 4, 6, 6});
  model.initializer(tensor("w", kInt8, {4, 3, 3, 3}, std::string(108, '\1')));
  model.node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  const ModelSupport support_there = support(model, "linux-x64@1.22.0");
  EXPECT_EQ(support_there.check.broken, 2U);
  EXPECT_FALSE(support_there.check.findings.back().scope.empty());
}

TEST(WeightsAfterLoading, CountsDecodedOnes) {
  ModelBuilder model(13);
  model.input("x", kFloat, {1, 16})
      .output("y", kFloat, {1, 8})
      .initializer("s", {8}, std::vector<float>(8, 1));
  model.initializer(tensor("codes", kInt8, {16, 8}, std::string(128, '\1')));
  model.node("Cast", {"codes"}, {"f"}, {int_attribute("to", kFloat)}).node("Mul", {"f", "s"}, {"w"});
  model.node("MatMul", {"x", "w"}, {"y"});
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  EXPECT_EQ(weights_after_loading(graph::validate(read)), 128U * 4 + 8 * 4);
}

}  // namespace
}  // namespace ounce::target
