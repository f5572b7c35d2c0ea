#include "formats/onnx/qat/quantized_state.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::passes {
namespace {

using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::node;
using ounce::test::tensor;
using test::noise;
using testing::ElementsAre;
using testing::IsEmpty;

QuantizedState describe(const ModelBuilder& builder) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  return describe_quantization(model, graph::Index(model));
}

std::vector<std::string> lines_of(const std::vector<FloatOp>& ops) {
  std::vector<std::string> lines;
  for (const FloatOp& op : ops)
    lines.push_back(op.label + " " + op.op_type + (op.has_float_weight ? " weight" : "") +
                    (op.has_float_input ? " input" : ""));
  return lines;
}

// x, quantized and dequantized as d; a stored weight, dequantized as w; an FP32 weight f; and r, a weight
// quantized at run time.
ModelBuilder coded() {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).initializer("s", {}, {0.1F});
  model.initializer(tensor("k", 2, {4, 4}, std::string(16, '\3'))).initializer("f", {4, 4}, noise({4, 4}));
  model.node("QuantizeLinear", {"x", "s"}, {"c"}).node("DequantizeLinear", {"c", "s"}, {"d"});
  model.node("DequantizeLinear", {"k", "s"}, {"w"});
  model.node("QuantizeLinear", {"f", "s"}, {"rc"}).node("DequantizeLinear", {"rc", "s"}, {"r"});
  return model;
}

TEST(QuantizedState, KnowsFloatModels) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 4}).initializer("f", {4, 4}, noise({4, 4}));
  model.node("MatMul", {"x", "f"}, {"y"});
  const QuantizedState state = describe(model);
  EXPECT_FALSE(state.is_qdq());
  EXPECT_FALSE(state.is_qoperator());
  EXPECT_THAT(state.float_ops, IsEmpty());
  EXPECT_EQ(state.sentence, "not quantized");
}

TEST(QuantizedState, CountsIntegerOps) {
  ModelBuilder model = coded();
  model.output("y", kFloat, {2, 4});
  const auto add = [&](const char* op, const char* domain, const std::string& y) {
    model.add(1, node(op, {"c"}, {y}, {}, {}, domain));
  };
  add("QLinearMatMul", "", "a");
  add("QLinearAdd", "com.microsoft", "b");
  add("QLinearAdd", "com.microsoft", "e");
  add("MatMulNBits", "com.microsoft", "g");
  add("DynamicQuantizeLinear", "", "h");
  add("QLinearThing", "elsewhere", "i");
  add("QGemm", "com.microsoft", "y");
  const QuantizedState state = describe(model);
  EXPECT_TRUE(state.is_qoperator());
  EXPECT_FALSE(state.is_qdq());
  EXPECT_EQ(state.quantize_nodes, 2U);
  EXPECT_THAT(state.float_ops, IsEmpty());
  EXPECT_EQ(
      state.sentence,
      "already quantized with integer ops (1 DynamicQuantizeLinear, 1 MatMulNBits, 1 QGemm, 2 QLinearAdd, 1 "
      "QLinearMatMul): nothing is left to do");
}

TEST(QuantizedState, FindsNothingInFloatWhereAllIsCoded) {
  ModelBuilder model = coded();
  model.output("y", kFloat, {2, 4}).output("z", kFloat, {2, 4}).node("MatMul", {"d", "w"}, {"y"});
  model.node("Transpose", {"r"}, {"t"}).node("Gemm", {"d", "t"}, {"z"});
  const QuantizedState state = describe(model);
  EXPECT_TRUE(state.is_qdq());
  EXPECT_THAT(state.float_ops, IsEmpty());
  EXPECT_EQ(state.sentence,
            "already quantized with its own scales (2 QuantizeLinear, 3 DequantizeLinear); all ops with "
            "weights are quantized");
}

TEST(QuantizedState, ListsOpsThatComputeInFloat) {
  GraphBuilder branch;
  branch.output("t", kFloat, {2, 4}).node("MatMul", {"d", "f"}, {"t"}, {}, "inner");
  ModelBuilder model = coded();
  for (const char* y : {"y1", "y2", "y3", "y4", "y5", "y6", "y7"}) model.output(y, kFloat, {2, 4});
  model.node("MatMul", {"d", "f"}, {"y1"}, {}, "float_weight")
      .node("MatMul", {"x", "w"}, {"y2"}, {}, "float_input");
  model.node("Gemm", {"x", "f"}, {"y3"}, {}, "both").node("MatMul", {"x", "d"}, {"y4"}, {}, "no_weight");
  model.node("Gather", {"f", "n"}, {"y5"}, {}, "table").input("n", 7, {2}).node("Relu", {"d"}, {"l"});
  model.node("MatMul", {"w", "l"}, {"y6"}).input("which", 9, {});
  model.node("If", {"which"}, {"y7"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())},
             "if");
  const QuantizedState state = describe(model);
  EXPECT_THAT(lines_of(state.float_ops),
              ElementsAre("float_weight MatMul weight", "float_input MatMul input", "both Gemm weight input",
                          "table Gather weight", "MatMul#11 MatMul input",
                          "inner in if/then_branch MatMul weight", "inner in if/else_branch MatMul weight"));
  EXPECT_THAT(state.sentence, testing::HasSubstr("7 ops with weights still run in FP32"));
}

TEST(QuantizedState, CountsSimulatedQuantizationAndCallsTheModelFloat) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 4}).initializer("f", {4, 4}, noise({4, 4}));
  model.initializer("s", {}, {0.1F}).initializer("lo", {}, {-128}).initializer("hi", {}, {127});
  model.node("Div", {"x", "s"}, {"a"}).node("Round", {"a"}, {"b"});
  model.node("Clip", {"b", "lo", "hi"}, {"c"}).node("Mul", {"c", "s"}, {"d"});
  model.node("Div", {"f", "s"}, {"e"}).node("Clip", {"e", "lo", "hi"}, {"g"});
  model.node("Round", {"g"}, {"h"}).node("Mul", {"h", "s"}, {"i"}).node("Round", {"d"}, {"r"});
  model.add(1, node("Quant", {"r", "s", "lo", "hi"}, {"q"}, {}, {}, "onnx.brevitas"));
  model.node("MatMul", {"q", "i"}, {"y"});
  const QuantizedState state = describe(model);
  EXPECT_EQ(state.simulated, 3U);
  EXPECT_FALSE(state.is_qdq());
  EXPECT_EQ(state.sentence, "not quantized");
}

}  // namespace
}  // namespace ounce::passes
