#include "formats/onnx/prepare/integer_rewrites.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::float_tensor;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using ounce::test::tensor_attribute;
using test::expect_same_outputs;
using test::float_attribute;
using test::noise;
using test::text_of;
using testing::HasSubstr;

bool all(const onnx::Node&) { return true; }

// x [2,3] times w; one side of w is five.
ModelBuilder with_weight(const Dims& weight) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 5}).initializer("w", weight, noise(weight));
  return model;
}

TEST(GemmToMatMul, SplitsIntoAProductAndASum) {
  ModelBuilder model = with_weight({3, 5});
  model.initializer("b", {5}, noise({5})).node("Gemm", {"x", "w", "b"}, {"y"}, {}, "dense");
  onnx::Model split = read(model.bytes());
  EXPECT_EQ(gemm_to_matmul(split, all).count, 1U);
  EXPECT_EQ(text_of(split), "w = float32[3,5]\nb = float32[5]\nMatMul(x, w) -> v0\nAdd(v0, b) -> y\n");
  EXPECT_EQ(split.proto->graph->nodes[0]->name, "dense");
  expect_same_outputs(model.bytes(), split);
}

TEST(GemmToMatMul, SpreadsEveryBiasAsBefore) {
  for (const Dims& bias : {Dims{}, Dims{1}, Dims{5}, Dims{1, 5}, Dims{2, 1}, Dims{2, 5}}) {
    ModelBuilder model = with_weight({5, 3});
    model.initializer("b", bias, noise(bias, 3));
    model.node("Gemm", {"x", "w", "b"}, {"y"}, {int_attribute("transB", 1)});
    onnx::Model split = read(model.bytes());
    EXPECT_EQ(gemm_to_matmul(split, all).count, 1U);
    expect_same_outputs(model.bytes(), split);
  }
}

TEST(GemmToMatMul, NeedsNoSumWithoutABias) {
  for (const Strings& inputs : {Strings{"x", "w"}, Strings{"x", "w", ""}}) {
    ModelBuilder model = with_weight({3, 5});
    model.node("Gemm", inputs, {"y"}, {float_attribute("beta", 3)});
    onnx::Model split = read(model.bytes());
    EXPECT_EQ(gemm_to_matmul(split, all).count, 1U);
    EXPECT_EQ(text_of(split), "w = float32[3,5]\nMatMul(x, w) -> y\n");
    expect_same_outputs(model.bytes(), split);
  }
}

// The weight itself is kept for other users, and is transposed once.
TEST(GemmToMatMul, TransposesIntoANewTensor) {
  ModelBuilder model = with_weight({5, 3});
  model.node("Gemm", {"x", "w"}, {"y"}, {int_attribute("transB", 1)});
  model.node("Gemm", {"x", "w"}, {"z"}, {int_attribute("transB", 1)}).output("z", kFloat, {2, 5});
  model.node("Relu", {"w"}, {"r"}).output("r", kFloat, {5, 3});
  onnx::Model split = read(model.bytes());
  EXPECT_EQ(gemm_to_matmul(split, all).count, 2U);
  EXPECT_EQ(text_of(split),
            "w = float32[5,3]\nq0 = float32[3,5]\nMatMul(x, q0) -> y\nMatMul(x, q0) -> z\nRelu(w) -> r\n");
  expect_same_outputs(model.bytes(), split);
}

TEST(GemmToMatMul, TakesWeightsOfConstantNodesAndOfGraphsAround) {
  const auto branch = [](const std::string& weight) {
    GraphBuilder graph;
    graph.output("e", kFloat, {2, 5}).node("Gemm", {"x", weight}, {"e"}, {int_attribute("transB", 1)});
    return graph.bytes();
  };
  ModelBuilder model = with_weight({5, 3});
  model.input("which", 9, {});
  model.node("Constant", {}, {"k"}, {tensor_attribute("value", float_tensor("", {5, 3}, noise({15}, 9)))});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", branch("w")), graph_attribute("else_branch", branch("k"))});
  onnx::Model split = read(model.bytes());
  EXPECT_EQ(gemm_to_matmul(split, all).count, 2U);
  EXPECT_EQ(text_of(split),
            "w = float32[5,3]\nq0 = float32[3,5]\nq1 = float32[3,5]\nConstant() -> k\nIf(which) -> y\n"
            "  then_branch:\n    MatMul(x, q0) -> e\n  else_branch:\n    MatMul(x, q1) -> e\n");
  expect_same_outputs(model.bytes(), split);
}

TEST(GemmToMatMul, AsksWhichOnes) {
  ModelBuilder model = with_weight({3, 5});
  model.node("Gemm", {"x", "w"}, {"y"}, {}, "this").node("Gemm", {"x", "w"}, {"z"}, {}, "not_this");
  model.output("z", kFloat, {2, 5});
  onnx::Model split = read(model.bytes());
  EXPECT_EQ(gemm_to_matmul(split, [](const onnx::Node& node) { return node.name == "this"; }).count, 1U);
  EXPECT_THAT(text_of(split), HasSubstr("MatMul(x, w) -> y\nGemm(x, w) -> z\n"));
}

TEST(GemmToMatMul, LeavesWhatIsMoreThanAProductAndASum) {
  const auto reason = [](const Strings& inputs, const Strings& attributes) {
    ModelBuilder model = with_weight({3, 5});
    model.initializer("b", {5}, noise({5})).input("v", kFloat, {3, 5});
    model.node("Gemm", inputs, {"y"}, attributes, "g");
    onnx::Model split = read(model.bytes());
    const Changes changes = gemm_to_matmul(split, all);
    EXPECT_FALSE(split.proto.is_edited());
    return changes.left_alone.at(0);
  };
  EXPECT_EQ(reason({"x", "w", "b"}, {float_attribute("alpha", 2)}), "node 'g': its alpha or beta is not 1");
  EXPECT_EQ(reason({"x", "w", "b"}, {float_attribute("beta", 0)}), "node 'g': its alpha or beta is not 1");
  EXPECT_EQ(reason({"x", "w"}, {int_attribute("transA", 1)}),
            "node 'g': its left input is transposed (transA)");
  EXPECT_EQ(reason({"x", "v"}, {}), "node 'g': its right input is not a constant");
  EXPECT_EQ(reason({"x", "b"}, {}), "node 'g': its right input is not a matrix");
}

}  // namespace
}  // namespace ounce::passes
