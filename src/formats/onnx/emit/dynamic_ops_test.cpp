// Dynamic quantization, from the plan to the results in runtimes.
#include "formats/onnx/emit/dynamic_ops.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/integer_runs.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::Strings;
using test::integer_recipe;
using test::ints_attribute;
using test::least_sqnr;
using test::noise;
using test::Rewritten;
using test::text_of;
using testing::HasSubstr;

constexpr double kLeastDynamicSqnr = 30;  // dB, for one or two layers

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Tests signed and unsigned weights, per channel and per tensor.
void expect_dynamic_close(const GraphBuilder& model, double least = kLeastDynamicSqnr) {
  const std::string bytes = model.bytes();
  for (const WeightType weights : {WeightType::kS8, WeightType::kU8}) {
    for (const GranularityKind granularity : {GranularityKind::kChannel, GranularityKind::kTensor}) {
      SCOPED_TRACE(std::string(weights == WeightType::kS8 ? "s8" : "u8") +
                   (granularity == GranularityKind::kChannel ? " per channel" : " per tensor"));
      Recipe recipe = integer_recipe(Format::kInt8Dynamic);
      recipe.integer.weights = weights;
      recipe.integer.dynamic_conv = true;
      recipe.granularity.kind = granularity;
      const Rewritten rewritten(bytes, recipe);
      EXPECT_THAT(text_of(rewritten.model()), HasSubstr("Integer("));
      EXPECT_GE(least_sqnr(bytes, rewritten.model()), least) << text_of(rewritten.model());
    }
  }
}

// Queries, keys and values computed from one input.
ModelBuilder projections() {
  ModelBuilder model;
  model.input("x", kFloat, {2, 5, 8});
  for (const char* name : {"q", "k", "v"}) {
    const std::string weight = std::string("w") + name;
    model.initializer(weight, {8, 6}, noise({8, 6}, static_cast<std::uint32_t>(*name)));
    model.node("MatMul", {"x", weight}, {name}).output(name, kFloat, {2, 5, 6});
  }
  return model;
}

TEST(DynamicOps, AnInputIsCodedOnceForAllThatTakeIt) {
  const Rewritten rewritten(projections().bytes(), integer_recipe(Format::kInt8Dynamic));
  EXPECT_EQ(text_of(rewritten.model()),
            "q0 = int8[8,6]\n"
            "q1 = float32[6]\n"
            "q2 = int8[8,6]\n"
            "q3 = float32[6]\n"
            "q4 = int8[8,6]\n"
            "q5 = float32[6]\n"
            "DynamicQuantizeLinear(x) -> q6, q7, q8\n"
            "Mul(q7, q1) -> v0\n"
            "MatMulInteger(q6, q0, q8) -> v1\n"
            "Cast(v1){to=1} -> v2\n"
            "Mul(v2, v0) -> q\n"
            "Mul(q7, q3) -> v3\n"
            "MatMulInteger(q6, q2, q8) -> v4\n"
            "Cast(v4){to=1} -> v5\n"
            "Mul(v5, v3) -> k\n"
            "Mul(q7, q5) -> v6\n"
            "MatMulInteger(q6, q4, q8) -> v7\n"
            "Cast(v7){to=1} -> v8\n"
            "Mul(v8, v6) -> v\n");
  expect_dynamic_close(projections());
}

TEST(DynamicOps, GemmIsSplitBeforehand) {
  ModelBuilder model;
  model.input("x", kFloat, {3, 8}).output("y", kFloat, {3, 4});
  model.initializer("w", {6, 8}, noise({6, 8})).initializer("b", {6}, noise({6}, 2));
  model.initializer("u", {6, 4}, noise({6, 4}, 3)).initializer("c", {1, 4}, noise({1, 4}, 4));
  model.node("Gemm", {"x", "w", "b"}, {"a"}, {int_attribute("transB", 1)}).node("Relu", {"a"}, {"r"});
  model.node("Gemm", {"r", "u", "c"}, {"y"});
  const std::string text = text_of(Rewritten(model.bytes(), integer_recipe(Format::kInt8Dynamic)).model());
  EXPECT_EQ(count(text, "MatMulInteger("), 2U);
  EXPECT_EQ(count(text, "Gemm("), 0U);
  expect_dynamic_close(model);
}

TEST(DynamicOps, ConvolutionsStayClose) {
  ModelBuilder images;
  images.input("x", kFloat, {2, 4, 8, 8}).output("y", kFloat, {2, 5, 4, 4});
  images.initializer("w", {6, 2, 3, 3}, noise({6, 2, 3, 3})).initializer("b", {6}, noise({6}, 2));
  images.initializer("u", {5, 6, 1, 1}, noise({5, 6, 1, 1}, 3));
  images.node(
      "Conv", {"x", "w", "b"}, {"a"},
      {int_attribute("group", 2), ints_attribute("pads", {1, 1, 1, 1}), ints_attribute("strides", {2, 2})});
  images.node("Conv", {"a", "u", ""}, {"y"});
  expect_dynamic_close(images);

  ModelBuilder sound;
  sound.input("x", kFloat, {1, 4, 16}).output("y", kFloat, {1, 4, 12});
  sound.initializer("w", {4, 1, 3}, noise({4, 1, 3})).initializer("b", {4}, noise({4}, 2));
  sound.node("Conv", {"x", "w", "b"}, {"y"}, {int_attribute("group", 4), ints_attribute("dilations", {2})});
  expect_dynamic_close(sound);
}

TEST(DynamicOps, ConvolutionsSpreadScalesAndBiasOverTheAxesBehindTheirChannels) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 16}).output("y", kFloat, {1, 3, 16});
  model.initializer("w", {3, 4, 1}, noise({3, 4, 1})).initializer("b", {3}, noise({3}, 2));
  model.node("Conv", {"x", "w", "b"}, {"y"});
  Recipe recipe = integer_recipe(Format::kInt8Dynamic);
  recipe.integer.dynamic_conv = true;
  EXPECT_EQ(text_of(Rewritten(model.bytes(), recipe).model()),
            "b = float32[3]\n"
            "q0 = uint8[3,4,1]\n"
            "q1 = float32[3]\n"
            "q5 = uint8[]\n"
            "q6 = int64[2]\n"
            "q7 = int64[2]\n"
            "DynamicQuantizeLinear(x) -> q2, q3, q4\n"
            "Reshape(q1, q6) -> v0\n"
            "Mul(q3, v0) -> v1\n"
            "ConvInteger(q2, q0, q4, q5) -> v2\n"
            "Cast(v2){to=1} -> v3\n"
            "Reshape(b, q7) -> v4\n"
            "Mul(v3, v1) -> v5\n"
            "Add(v5, v4) -> y\n");
}

TEST(DynamicOps, BranchesCodeWhatTheyTakeThemselves) {
  const auto branch = [](std::uint32_t seed) {
    GraphBuilder graph;
    graph.output("z", kFloat, {3, 4});
    graph.initializer("w", {8, 4}, noise({8, 4}, seed)).node("MatMul", {"x", "w"}, {"z"});
    return graph.bytes();
  };
  ModelBuilder model;
  model.input("x", kFloat, {3, 8}).input("c", kBool, {}).output("y", kFloat, {3, 4});
  model.output("a", kFloat, {3, 4}).initializer("u", {8, 4}, noise({8, 4}));
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", branch(2)), graph_attribute("else_branch", branch(3))});
  model.node("MatMul", {"x", "u"}, {"a"});  // after the branches
  const std::string text = text_of(Rewritten(model.bytes(), integer_recipe(Format::kInt8Dynamic)).model());
  EXPECT_EQ(count(text, "DynamicQuantizeLinear(x)"), 3U);
  expect_dynamic_close(model);
}

TEST(DynamicOps, WeightsOfGraphsAroundAndOfTwoStayClose) {
  GraphBuilder branch;
  branch.output("z", kFloat, {3, 8}).node("MatMul", {"a", "w"}, {"z"});
  GraphBuilder other;
  other.output("o", kFloat, {3, 8}).node("Relu", {"a"}, {"o"});
  ModelBuilder model;
  model.input("x", kFloat, {3, 8}).input("c", kBool, {}).output("y", kFloat, {3, 8});
  model.initializer("w", {8, 8}, noise({8, 8})).node("MatMul", {"x", "w"}, {"a"});
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", other.bytes())});
  expect_dynamic_close(model);
}

TEST(DynamicOps, NamesThatAreTakenAreNotGivenAgain) {
  ModelBuilder model;
  model.input("q0", kFloat, {3, 8}).output("v0", kFloat, {3, 8});
  model.initializer("q1", {8, 8}, noise({8, 8})).initializer("v1", {8, 8}, noise({8, 8}, 2));
  model.node("MatMul", {"q0", "q1"}, {"q2"}).node("MatMul", {"q2", "v1"}, {"v0"});
  expect_dynamic_close(model);
}

TEST(DynamicOps, OldOpsetsAreRaised) {
  ModelBuilder model(9, 4);
  model.input("x", kFloat, {3, 8}).output("y", kFloat, {3, 4});
  model.initializer("w", {8, 4}, noise({8, 4})).node("MatMul", {"x", "w"}, {"y"});
  expect_dynamic_close(model);
}

// Before IR 4 every constant is also declared as an input.
TEST(DynamicOps, WeightsThatAreDeclaredAsInputsStayClose) {
  ModelBuilder model(9, 3);
  model.input("x", kFloat, {3, 8}).input("w", kFloat, {8, 4}).output("y", kFloat, {3, 4});
  model.initializer("w", {8, 4}, noise({8, 4})).node("MatMul", {"x", "w"}, {"y"});
  expect_dynamic_close(model);
}

TEST(DynamicOps, WeightsOfConstantNodesStayClose) {
  ModelBuilder model;
  model.input("x", kFloat, {3, 8}).output("y", kFloat, {3, 4});
  const std::string weight = ounce::test::float_tensor("", {8, 4}, noise({8, 4}));
  model.node("Relu", {"x"}, {"r"})
      .node("Constant", {}, {"w"}, {ounce::test::tensor_attribute("value", weight)});
  model.node("MatMul", {"r", "w"}, {"y"});
  expect_dynamic_close(model);
}

TEST(DynamicOps, LstmsAndAttentionBringTheirDomain) {
  ModelBuilder lstm;
  lstm.input("x", kFloat, {5, 2, 6}).output("y", kFloat, {5, 1, 2, 4});
  lstm.initializer("w", {1, 16, 6}, noise({1, 16, 6})).initializer("r", {1, 16, 4}, noise({1, 16, 4}, 2));
  lstm.node("LSTM", {"x", "w", "r"}, {"y"}, {int_attribute("hidden_size", 4)});
  const Rewritten rewritten(lstm.bytes(), integer_recipe(Format::kInt8Dynamic));
  EXPECT_THAT(text_of(rewritten.model()), HasSubstr("DynamicQuantizeLSTM("));
  EXPECT_GE(least_sqnr(lstm.bytes(), rewritten.model()), kLeastDynamicSqnr);

  ModelBuilder attention;
  attention.add_to_model(8, field(1, std::string("com.microsoft")) + field(2, std::int64_t{1}));
  attention.input("x", kFloat, {1, 3, 8}).output("y", kFloat, {1, 3, 8}).output("z", kFloat, {1, 3, 4});
  attention.initializer("w", {8, 24}, noise({8, 24})).initializer("b", {24}, noise({24}, 2));
  attention.initializer("u", {8, 4}, noise({8, 4}, 3)).node("MatMul", {"x", "u"}, {"z"});
  attention.add(1, ounce::test::node("Attention", {"x", "w", "b"}, {"y"}, {int_attribute("num_heads", 2)}, {},
                                     "com.microsoft"));
  const Rewritten fused(attention.bytes(), integer_recipe(Format::kInt8Dynamic));
  EXPECT_EQ(count(text_of(fused.model()), "DynamicQuantizeLinear(x)"), 1U);
  EXPECT_EQ(count(text_of(fused.model()), "QAttention("), 1U);
  EXPECT_GE(least_sqnr(attention.bytes(), fused.model()), kLeastDynamicSqnr);
}

TEST(DynamicOps, AWeightOfAnIntegerAndAFloatProductServesBoth) {
  ModelBuilder model;
  model.input("x", kFloat, {3, 8}).output("y", kFloat, {3, 8});
  model.initializer("w", {8, 8}, noise({8, 8}));
  model.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w"}, {"y"});
  const std::string bytes = model.bytes();
  Recipe recipe = integer_recipe(Format::kInt8Dynamic);
  recipe.nodes = {{"a", Format::kW8}};
  EXPECT_GE(least_sqnr(bytes, Rewritten(bytes, recipe).model()), kLeastDynamicSqnr);
}

}  // namespace
}  // namespace ounce::passes
