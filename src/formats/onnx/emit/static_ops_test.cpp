// Static quantization in QDQ and QOperator format, from the plan to the results in runtimes.
#include <gmock/gmock.h>

#include <set>

#include "formats/onnx/file/reader.h"
#include "support/error_of.h"
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
using test::float_attribute;
using test::integer_recipe;
using test::ints_attribute;
using test::ints_tensor;
using test::least_sqnr;
using test::noise;
using test::Rewritten;
using test::text_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kLeastStaticSqnr = 30;  // dB, for up to five 8-bit layers with exact ranges

struct StaticVariant {
  Dialect dialect = Dialect::kQdq;
  ActivationType activations = ActivationType::kU8;
  WeightType weights = WeightType::kS8;
  GranularityKind granularity = GranularityKind::kChannel;

  Recipe recipe() const {
    Recipe recipe = integer_recipe(Format::kInt8);
    recipe.integer.dialect = dialect;
    recipe.integer.activations = activations;
    recipe.integer.weights = weights;
    recipe.granularity.kind = granularity;
    return recipe;
  }
  std::string text() const {
    return std::string(dialect == Dialect::kQdq ? "qdq" : "qoperator") +
           (activations == ActivationType::kU8 ? ", u8" : ", s8") +
           (weights == WeightType::kU8 ? " with u8" : " with s8") +
           (granularity == GranularityKind::kChannel ? " per channel" : " per tensor");
  }
};
const StaticVariant kQdq, kQOperator{.dialect = Dialect::kQOperator};

std::vector<StaticVariant> all_variants() {
  std::vector<StaticVariant> variants;
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    for (const ActivationType activations : {ActivationType::kU8, ActivationType::kS8}) {
      for (const WeightType weights : {WeightType::kS8, WeightType::kU8}) {
        const bool is_known = dialect == Dialect::kQdq || activations == ActivationType::kU8 ||
                              weights == WeightType::kS8;  // runtimes support no other combination
        if (!is_known) continue;
        for (const GranularityKind granularity : {GranularityKind::kChannel, GranularityKind::kTensor})
          variants.push_back({dialect, activations, weights, granularity});
      }
    }
  }
  return variants;
}

// Collects the names that a body and its subgraphs use.
void collect_names(const std::vector<onnx::Kept<onnx::Node>>& nodes, std::set<std::string>& names) {
  for (const auto& node : nodes) {
    names.insert(node->inputs.begin(), node->inputs.end());
    names.insert(node->outputs.begin(), node->outputs.end());
    for (const auto& attribute : node->attributes) {
      for (const auto& graph : attribute->graphs) collect_names((*graph)->nodes, names);
    }
  }
}
std::set<std::string> names_of(const onnx::Model& model) {
  std::set<std::string> names;
  collect_names(model.proto->graph->nodes, names);
  return names;
}

// Tests both formats and all types.
void expect_static_close(const GraphBuilder& model, double least = kLeastStaticSqnr) {
  const std::string bytes = model.bytes();
  for (const StaticVariant& variant : all_variants()) {
    SCOPED_TRACE(variant.text());
    const Rewritten rewritten(bytes, variant.recipe());
    EXPECT_GE(least_sqnr(bytes, rewritten.model()), least) << text_of(rewritten.model());
    const std::set<std::string> old = names_of(rewritten.source());
    for (const std::string& name : names_of(rewritten.model())) {
      EXPECT_TRUE(old.contains(name) || name.size() <= 5) << name;
    }
  }
}

// Weights get the name "w" plus that of the output, and values that depend on this name.
std::uint32_t seed_of(const std::string& name) {
  std::uint32_t seed = 1;
  for (const char letter : name) seed = seed * 31 + static_cast<std::uint8_t>(letter);
  return seed;
}
void add_conv(GraphBuilder& graph, const std::string& x, const std::string& y, const Dims& dims,
              const Strings& attributes = {}, bool has_bias = true) {
  graph.initializer("w" + y, dims, noise(dims, seed_of("w" + y)));
  Strings inputs = {x, "w" + y};
  if (has_bias) {
    graph.initializer("b" + y, {dims[0]}, noise({dims[0]}, seed_of("b" + y)));
    inputs.push_back("b" + y);
  }
  graph.node("Conv", inputs, {y}, attributes);
}
void add_gemm(GraphBuilder& graph, const std::string& x, const std::string& y, std::int64_t from,
              std::int64_t to, bool is_transposed = false, bool has_bias = true) {
  const Dims dims = is_transposed ? Dims{to, from} : Dims{from, to};
  graph.initializer("w" + y, dims, noise(dims, seed_of("w" + y)));
  Strings inputs = {x, "w" + y};
  if (has_bias) {
    graph.initializer("b" + y, {to}, noise({to}, seed_of("b" + y)));
    inputs.push_back("b" + y);
  }
  graph.node("Gemm", inputs, {y}, is_transposed ? Strings{int_attribute("transB", 1)} : Strings{});
}

ModelBuilder images(std::int64_t channels = 4, std::int64_t opset = 17) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {1, channels, 8, 8});
  return model;
}
const Strings kSame = {ints_attribute("pads", {1, 1, 1, 1})};

// x ─ Conv ─ a ─ Relu ─ r ─ Conv ─ y
ModelBuilder conv_relu_conv() {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 5, 8, 8});
  add_conv(model, "x", "a", {6, 4, 3, 3}, kSame);
  model.node("Relu", {"a"}, {"r"});
  add_conv(model, "r", "y", {5, 6, 1, 1}, {}, false);
  return model;
}

TEST(StaticOps, QdqStandsAroundFloatOps) {
  EXPECT_EQ(text_of(Rewritten(conv_relu_conv().bytes(), kQdq.recipe()).model()),
            "q0 = int8[6,4,3,3]\n"
            "q1 = float32[6]\n"
            "q2 = int32[6]\n"
            "q3 = int8[5,6,1,1]\n"
            "q4 = float32[5]\n"
            "q6 = float32[]\n"
            "q7 = uint8[]\n"
            "q9 = float32[]\n"
            "q10 = uint8[]\n"
            "q12 = float32[]\n"
            "q13 = uint8[]\n"
            "QuantizeLinear(x, q9, q10) -> q8\n"
            "DequantizeLinear(q0, q1){axis=0} -> wa\n"
            "DequantizeLinear(q3, q4){axis=0} -> wy\n"
            "Mul(q1, q9) -> v2\n"
            "DequantizeLinear(q2, v2){axis=0} -> ba\n"
            "DequantizeLinear(q8, q9, q10) -> v3\n"
            "Conv(v3, wa, ba){pads=[1,1,1,1]} -> v0\n"
            "QuantizeLinear(v0, q6, q7) -> q5\n"
            "DequantizeLinear(q5, q6, q7) -> v4\n"
            "Conv(v4, wy) -> v1\n"
            "QuantizeLinear(v1, q12, q13) -> q11\n"
            "DequantizeLinear(q11, q12, q13) -> y\n");
}

TEST(StaticOps, QOperatorTakesCodes) {
  EXPECT_EQ(text_of(Rewritten(conv_relu_conv().bytes(), kQOperator.recipe()).model()),
            "q0 = int8[6,4,3,3]\n"
            "q1 = float32[6]\n"
            "q2 = int32[6]\n"
            "q3 = int8[5,6,1,1]\n"
            "q4 = float32[5]\n"
            "q7 = float32[]\n"
            "q8 = uint8[]\n"
            "q10 = float32[]\n"
            "q11 = uint8[]\n"
            "q12 = int8[6]\n"
            "q13 = float32[]\n"
            "q14 = uint8[]\n"
            "q15 = int8[5]\n"
            "QuantizeLinear(x, q7, q8) -> q6\n"
            "QLinearConv(q6, q7, q8, q0, q1, q12, q13, q14, q2){pads=[1,1,1,1]} -> q5\n"
            "QLinearConv(q5, q13, q14, q3, q4, q15, q10, q11) -> q9\n"
            "DequantizeLinear(q9, q10, q11) -> y\n");
}

ModelBuilder perceptron() {
  ModelBuilder model;
  model.input("x", kFloat, {3, 8}).output("y", kFloat, {3, 4});
  add_gemm(model, "x", "a", 8, 6, true);
  model.node("Relu", {"a"}, {"r"});
  add_gemm(model, "r", "y", 6, 4, false, false);
  return model;
}

TEST(StaticOps, GemmGivesCodesInTheMiddleAndFloatsAtTheEnd) {
  EXPECT_EQ(text_of(Rewritten(perceptron().bytes(), kQOperator.recipe()).model()),
            "q0 = int8[6,8]\n"
            "q1 = float32[6]\n"
            "q2 = int32[6]\n"
            "q3 = int8[6,4]\n"
            "q4 = float32[4]\n"
            "q7 = float32[]\n"
            "q8 = uint8[]\n"
            "q9 = int8[6]\n"
            "q10 = float32[]\n"
            "q11 = uint8[]\n"
            "q12 = int8[4]\n"
            "QuantizeLinear(x, q7, q8) -> q6\n"
            "QGemm(q6, q7, q8, q0, q1, q9, q2, q10, q11){transB=1} -> q5\n"
            "QGemm(q5, q10, q11, q3, q4, q12) -> y\n");
}

TEST(StaticOps, ConvolutionsStayClose) {
  expect_static_close(conv_relu_conv());
  ModelBuilder one = ModelBuilder();  // one spatial axis
  one.input("x", kFloat, {2, 4, 16}).output("y", kFloat, {2, 3, 16});
  add_conv(one, "x", "a", {4, 1, 3}, {int_attribute("group", 4), ints_attribute("pads", {1, 1})});
  one.node("Relu", {"a"}, {"r"});
  add_conv(one, "r", "y", {3, 4, 1});
  expect_static_close(one);
}

TEST(StaticOps, PerceptronsStayClose) { expect_static_close(perceptron()); }

// Stem ─ depthwise ─ Clip ─ Concat ─ pools ─ residual ─ head
ModelBuilder network() {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 3});
  model.initializer("zero", {}, {0}).initializer("six", {}, {6});
  add_conv(model, "x", "a", {6, 4, 3, 3}, kSame);
  model.node("Clip", {"a", "zero", "six"}, {"ar"});
  add_conv(model, "ar", "d", {6, 1, 3, 3}, {int_attribute("group", 6), ints_attribute("pads", {1, 1, 1, 1})});
  model.node("Concat", {"ar", "d"}, {"c"}, {int_attribute("axis", 1)});
  model.node("MaxPool", {"c"}, {"m"},
             {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})});
  add_conv(model, "m", "e", {6, 12, 1, 1});
  model.node("LeakyRelu", {"e"}, {"l"}, {float_attribute("alpha", 0.125F)});
  add_conv(model, "l", "f", {6, 6, 1, 1});
  model.node("Add", {"l", "f"}, {"s"}).node("Relu", {"s"}, {"sr"});
  model.node("AveragePool", {"sr"}, {"p"}, {ints_attribute("kernel_shape", {2, 2})});
  add_conv(model, "p", "h", {6, 6, 1, 1}, {}, false);
  model.node("GlobalAveragePool", {"h"}, {"g"}).node("Flatten", {"g"}, {"t"});
  add_gemm(model, "t", "y", 6, 3);
  return model;
}

TEST(StaticOps, WholeNetworksStayClose) { expect_static_close(network(), 25); }

TEST(StaticOps, WholeNetworksComputeOnIntegersFromEndToEnd) {
  const std::string text = text_of(Rewritten(network().bytes(), kQOperator.recipe()).model());
  for (const char* op : {"\nRelu(", "\nClip(", "\nConv(", "\nDequantizeLinear("})
    EXPECT_THAT(text, Not(HasSubstr(op)));
  for (const char* op : {"QLinearConv(", "QLinearConcat(", "QLinearAdd(", "QLinearLeakyRelu(",
                         "QLinearAveragePool(", "QLinearGlobalAveragePool(", "QGemm(", "MaxPool("})
    EXPECT_THAT(text, HasSubstr(op));
  const std::string qdq = text_of(Rewritten(network().bytes(), kQdq.recipe()).model());
  EXPECT_THAT(qdq, AllOf(Not(HasSubstr("\nRelu(")), Not(HasSubstr("\nClip("))));
}

// Squeeze and excite: one side of the product is [1, C, 1, 1].
TEST(StaticOps, GatesStayClose) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 8, 8});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  model.node("GlobalAveragePool", {"a"}, {"g"});
  add_conv(model, "g", "e", {4, 4, 1, 1});
  model.node("Sigmoid", {"e"}, {"s"}).node("Mul", {"a", "s"}, {"m"});
  add_conv(model, "m", "y", {4, 4, 1, 1});
  expect_static_close(model);
}

TEST(StaticOps, CodesThatAreMovedStayClose) {
  ModelBuilder model = images();
  model.output("y", kFloat, {2, 4, 8, 2});
  model.initializer(ints_tensor("shape", {1, 4, 32, 2})).initializer(ints_tensor("first", {0}));
  model.initializer(ints_tensor("from", {0})).initializer(ints_tensor("to", {16}));
  model.initializer(ints_tensor("axis", {2})).initializer(ints_tensor("halves", {2, 4, 8, 2}));
  add_conv(model, "x", "a", {4, 4, 1, 1});
  model.node("Reshape", {"a", "shape"}, {"b"}).node("Slice", {"b", "from", "to", "axis"}, {"c"});
  model.node("Squeeze", {"c", "first"}, {"d"});
  model.node("Transpose", {"d"}, {"e"}, {ints_attribute("perm", {1, 0, 2})});
  model.node("Unsqueeze", {"e", "first"}, {"f"}).node("Reshape", {"f", "halves"}, {"g"});
  add_conv(model, "g", "y", {4, 4, 1, 1});
  expect_static_close(model);
}

TEST(StaticOps, AttentionStaysClose) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 5, 8}).output("y", kFloat, {1, 5, 8});
  const auto product = [&](const char* x, const char* w, const char* y) {
    model.initializer(w, {8, 8}, noise({8, 8}, static_cast<std::uint32_t>(w[1])));
    model.node("MatMul", {x, w}, {y});
  };
  product("x", "wq", "q");
  product("x", "wk", "k");
  product("x", "wv", "v");
  model.node("Transpose", {"k"}, {"kt"}, {ints_attribute("perm", {0, 2, 1})});
  model.node("MatMul", {"q", "kt"}, {"scores"}).node("Softmax", {"scores"}, {"p"});
  model.node("MatMul", {"p", "v"}, {"o"});
  product("o", "wo", "y");
  expect_static_close(model);
}

TEST(StaticOps, AWeightOfTwoConvsStaysClose) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 8, 8});
  model.initializer("w", {4, 4, 1, 1}, noise({4, 4, 1, 1}));
  model.node("Conv", {"x", "w"}, {"a"}).node("Conv", {"a", "w"}, {"y"});
  expect_static_close(model);
}

// The output of a Conv is used by a Conv in another body, and by FP32 nodes in both bodies.
TEST(StaticOps, ValuesThatBranchesTakeFromOutsideStayClose) {
  GraphBuilder then_branch, else_branch;
  then_branch.output("z", kFloat, {1, 4, 8, 8});
  add_conv(then_branch, "r", "z", {4, 4, 1, 1});
  else_branch.output("z", kFloat, {1, 4, 8, 8});
  add_conv(else_branch, "x", "h", {4, 4, 1, 1});
  else_branch.node("Relu", {"h"}, {"hr"}).node("Add", {"hr", "r"}, {"z"});
  ModelBuilder model = images();
  model.input("c", kBool, {}).output("y", kFloat, {1, 4, 8, 8}).output("e", kFloat, {1, 4, 8, 8});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  model.node("Relu", {"a"}, {"r"}).node("Exp", {"r"}, {"e"});
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", then_branch.bytes()),
              graph_attribute("else_branch", else_branch.bytes())});
  expect_static_close(model);
}

TEST(StaticOps, WeightsAndBiasesOfGraphsAroundStayClose) {
  const auto branch = [](const char* weight, const char* bias) {
    GraphBuilder graph;
    graph.output("z", kFloat, {1, 4, 8, 8}).node("Conv", {"x", weight, bias}, {"z"});
    return graph.bytes();
  };
  ModelBuilder model = images();
  model.input("c", kBool, {}).output("y", kFloat, {1, 4, 8, 8}).output("a", kFloat, {1, 4, 8, 8});
  for (const char* name : {"w", "u"})
    model.initializer(name, {4, 4, 1, 1}, noise({4, 4, 1, 1}, seed_of(name)));
  for (const char* name : {"b", "d", "e"}) model.initializer(name, {4}, noise({4}, seed_of(name)));
  model.node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", branch("w", "b")), graph_attribute("else_branch", branch("u", "d"))});
  model.node("Conv", {"x", "w", "e"}, {"a"});
  expect_static_close(model);
}

TEST(StaticOps, AValueMayBeAnOutputAndGoOnAsCodes) {
  ModelBuilder model = images();
  model.output("a", kFloat, {1, 4, 8, 8}).output("y", kFloat, {1, 4, 8, 8});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  add_conv(model, "a", "y", {4, 4, 1, 1});
  expect_static_close(model);
}

TEST(StaticOps, NamesThatAreTakenAreNotGivenAgain) {
  ModelBuilder model;
  model.input("q0", kFloat, {1, 4, 8, 8}).output("v0", kFloat, {1, 4, 8, 8});
  model.initializer("q1", {4, 4, 1, 1}, noise({4, 4, 1, 1})).initializer("q2", {4}, noise({4}));
  model.initializer("v3", {4, 4, 1, 1}, noise({4, 4, 1, 1}, 3));
  model.node("Conv", {"q0", "q1", "q2"}, {"v1"}).node("Relu", {"v1"}, {"q3"});
  model.node("Conv", {"q3", "v3"}, {"v0"});
  expect_static_close(model);
}

// A bias too large for int32 relative to its weights, and the bias of a channel without weights.
TEST(StaticOps, LargeBiasesOfTinyWeightsStayClose) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 3, 8, 8});
  std::vector<float> weights = noise({3, 4, 1, 1});
  for (std::size_t i = 0; i < 4; ++i) weights[i] *= 1e-12F;
  for (std::size_t i = 4; i < 8; ++i) weights[i] = 0;
  model.initializer("w", {3, 4, 1, 1}, weights).initializer("b", {3}, {0.75F, -0.3F, 0.1F});
  model.node("Conv", {"x", "w", "b"}, {"y"});
  expect_static_close(model);
}

// Scales are 16-bit floats from 32 channels on.
TEST(StaticOps, TheScalesOfManyChannelsAreShort) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 8, 8});
  add_conv(model, "x", "a", {40, 4, 1, 1});
  model.node("Relu", {"a"}, {"r"});
  add_conv(model, "r", "y", {4, 40, 1, 1});
  EXPECT_THAT(text_of(Rewritten(model.bytes(), kQdq.recipe()).model()), HasSubstr("q1 = float16[40]\n"));
  expect_static_close(model);
}

// Before IR 4 every constant is also declared as an input.
TEST(StaticOps, WeightsThatAreDeclaredAsInputsStayClose) {
  ModelBuilder model(9, 3);
  model.input("x", kFloat, {1, 4, 8, 8}).output("y", kFloat, {1, 4, 8, 8});
  model.input("wy", kFloat, {4, 4, 1, 1}).input("by", kFloat, {4});
  add_conv(model, "x", "y", {4, 4, 1, 1});
  EXPECT_THAT(text_of(Rewritten(model.bytes(), kQOperator.recipe()).model()), HasSubstr("QLinearConv("));
  expect_static_close(model);
}

TEST(StaticOps, WeightsOfConstantNodesStayClose) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 8, 8});
  const auto constant = [&](const std::string& name, const Dims& dims) {
    const std::string tensor = ounce::test::float_tensor("", dims, noise(dims, seed_of(name)));
    model.node("Constant", {}, {name}, {ounce::test::tensor_attribute("value", tensor)});
  };
  model.node("Tanh", {"x"}, {"t"});
  constant("w", {4, 4, 1, 1});
  constant("b", {4});
  model.node("Conv", {"t", "w", "b"}, {"y"});
  EXPECT_THAT(text_of(Rewritten(model.bytes(), kQOperator.recipe()).model()), HasSubstr("QLinearConv("));
  expect_static_close(model);
}

TEST(StaticOps, SevenBitsAndCentredZerosStayClose) {
  const std::string bytes = network().bytes();
  for (StaticVariant variant : all_variants()) {
    SCOPED_TRACE(variant.text());
    Recipe recipe = variant.recipe();
    recipe.integer.reduce_range = true;
    recipe.integer.symmetric_activations = true;
    EXPECT_GE(least_sqnr(bytes, Rewritten(bytes, recipe).model()), 20);
  }
}

// These types need opset 21, which old runtimes do not support.
TEST(StaticOps, SixteenBitActivationsAndFourBitWeightsRunInNewRuntimes) {
  const std::string bytes = conv_relu_conv().bytes();
  const std::vector<std::filesystem::path> newest = {runtime::Library::installed().front()};
  for (const ActivationType type : {ActivationType::kU16, ActivationType::kS16}) {
    Recipe recipe = kQdq.recipe();
    recipe.integer.activations = type;
    EXPECT_GE(least_sqnr(bytes, Rewritten(bytes, recipe).model(), newest), 35);
  }
  for (const GranularityKind granularity : {GranularityKind::kChannel, GranularityKind::kTensor}) {
    Recipe recipe = kQdq.recipe();
    recipe.integer.weights = WeightType::kS4;
    recipe.granularity.kind = granularity;
    EXPECT_GE(least_sqnr(bytes, Rewritten(bytes, recipe).model(), newest), 12);
    EXPECT_GE(least_sqnr(perceptron().bytes(), Rewritten(perceptron().bytes(), recipe).model(), newest), 12);
  }
}

TEST(StaticOps, MixedTypesOfValuesRunInQdq) {
  Recipe recipe = kQdq.recipe();
  recipe.integer.values["r"].type = ActivationType::kS8;
  const std::string bytes = conv_relu_conv().bytes();
  EXPECT_GE(least_sqnr(bytes, Rewritten(bytes, recipe).model()), kLeastStaticSqnr);
  recipe.integer.values["r"].type = ActivationType::kU16;  // raises the opset
  const Rewritten wide(bytes, recipe);
  EXPECT_EQ(onnx::opset_version(wide.model().proto->opset_imports, ""), 21);
}

// Integer ops need the same type for all inputs that they join.
TEST(StaticOps, MixedTypesOfValuesRunOrAreRefusedInQOperator) {
  const std::string bytes = network().bytes();
  for (const char* value : {"x", "d", "f", "sr", "g"}) {
    Recipe recipe = kQOperator.recipe();
    recipe.integer.values[value].type = ActivationType::kS8;
    try {
      validate(recipe);
      const Rewritten rewritten(bytes, recipe);
      EXPECT_GE(least_sqnr(bytes, rewritten.model()), 20) << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage) << value << ": " << error.what();
    }
  }
}

// AveragePool has dilations since opset 19, QLinearAveragePool does not.
TEST(StaticOps, AnAveragePoolWithDilationsStaysFloat) {
  ModelBuilder model = images(4, 19);
  model.output("y", kFloat, {1, 4, 6, 6});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  model.node("AveragePool", {"a"}, {"p"},
             {ints_attribute("kernel_shape", {2, 2}), ints_attribute("dilations", {2, 2})});
  add_conv(model, "p", "y", {4, 4, 1, 1});
  expect_static_close(model);
}

// The Relu cannot be absorbed: the pool keeps the quantized range of the Conv, which goes below zero.
TEST(StaticOps, AReluBehindAPoolStaysInForce) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 7, 7});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  model.node("MaxPool", {"a"}, {"m"}, {ints_attribute("kernel_shape", {2, 2})}).node("Relu", {"m"}, {"r"});
  add_conv(model, "r", "y", {4, 4, 1, 1});
  expect_static_close(model);
}

TEST(StaticOps, AClipAwayFromZeroStaysInForce) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 8, 8});
  model.initializer("low", {}, {0.5F}).initializer("high", {}, {2});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  model.node("Clip", {"a", "low", "high"}, {"r"});
  add_conv(model, "r", "y", {4, 4, 1, 1});
  expect_static_close(model);
}

// One Conv runs in INT8 and the other in FP32, which needs the FP32 weight.
TEST(StaticOps, AWeightOfAnIntegerAndAFloatConvServesBoth) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 4, 8, 8});
  model.initializer("w", {4, 4, 1, 1}, noise({4, 4, 1, 1}));
  model.node("Conv", {"x", "w"}, {"a"}).node("Conv", {"a", "w"}, {"y"});
  const std::string bytes = model.bytes();
  for (StaticVariant variant : {kQdq, kQOperator}) {
    Recipe recipe = variant.recipe();
    recipe.nodes = {{"y", Format::kW8}};
    EXPECT_GE(least_sqnr(bytes, Rewritten(bytes, recipe).model()), kLeastStaticSqnr) << variant.text();
  }
}

// Nodes between two Convs. Weights are large, so that the limits are reached.
template <class Add>
ModelBuilder between_convs(Add add) {
  ModelBuilder model = images();
  model.output("y", kFloat, {1, 5, -1, -1});
  add_conv(model, "x", "a", {8, 4, 3, 3}, kSame);
  add(model);
  add_conv(model, "h", "y", {5, 8, 1, 1}, {}, false);
  return model;
}
// The ops that compute values of the model, except those that compute scales.
std::string ops_of(const onnx::Model& model) {
  std::string ops;
  for (const auto& node : model.proto->graph->nodes) ops += std::string(node->op_type()) + " ";
  return ops;
}

TEST(StaticOps, HardSwishIsASumAndAProductOfCodes) {
  const ModelBuilder model =
      between_convs([](GraphBuilder& graph) { graph.node("HardSwish", {"a"}, {"h"}); });
  EXPECT_EQ(ops_of(Rewritten(model.bytes(), kQOperator.recipe()).model()),
            "QuantizeLinear QLinearConv QLinearAdd QLinearMul QLinearConv DequantizeLinear ");
  expect_static_close(model);
}

TEST(StaticOps, HardSigmoidIsASumOfCodes) {
  const ModelBuilder model = between_convs([](GraphBuilder& graph) {
    graph.node("HardSigmoid", {"a"}, {"g"}).node("Mul", {"a", "g"}, {"h"});
  });
  EXPECT_EQ(ops_of(Rewritten(model.bytes(), kQOperator.recipe()).model()),
            "QuantizeLinear QLinearConv QLinearAdd QLinearMul QLinearConv DequantizeLinear ");
  expect_static_close(model);
}

TEST(StaticOps, TanhIsASigmoidOfTheSameCodes) {
  const ModelBuilder model = between_convs([](GraphBuilder& graph) {
    graph.node("Tanh", {"a"}, {"t"}).node("Sigmoid", {"a"}, {"s"}).node("Mul", {"t", "s"}, {"h"});
  });
  EXPECT_EQ(
      ops_of(Rewritten(model.bytes(), kQOperator.recipe()).model()),
      "QuantizeLinear QLinearConv QLinearSigmoid QLinearSigmoid QLinearMul QLinearConv DequantizeLinear ");
  expect_static_close(model);
}

TEST(StaticOps, WhatIsReadOtherwiseCanBeDecodedToo) {
  ModelBuilder model = between_convs([](GraphBuilder& graph) {
    graph.initializer("third", {}, {3}).node("Div", {"a", "third"}, {"h"});
  });
  model.node("Abs", {"h"}, {"z"});
  model.output("z", kFloat, {1, 8, 8, 8});
  expect_static_close(model);
}

TEST(StaticOps, NumbersBesideCodesAreCodes) {
  for (const float number : {0.7F, -0.7F}) {
    const ModelBuilder model = between_convs([number](GraphBuilder& graph) {
      graph.initializer("n", {1}, {number}).node("Sigmoid", {"a"}, {"g"});
      graph.node("Add", {"n", "g"}, {"s"}).node("Mul", {"s", "n"}, {"h"});
    });
    EXPECT_THAT(ops_of(Rewritten(model.bytes(), kQOperator.recipe()).model()),
                HasSubstr("QLinearSigmoid QLinear"));
    expect_static_close(model);
  }
}

TEST(StaticOps, ConvTransposeIsAConv) {
  const ModelBuilder model = between_convs([](GraphBuilder& graph) {
    graph.initializer("wt", {8, 8, 4, 4}, noise({8, 8, 4, 4}, 77));
    graph.node("ConvTranspose", {"a", "wt"}, {"t"},
               {ints_attribute("strides", {2, 2}), ints_attribute("pads", {1, 1, 1, 1})});
    graph.node("Relu", {"t"}, {"h"});
  });
  EXPECT_EQ(ops_of(Rewritten(model.bytes(), kQOperator.recipe()).model()),
            "Cast QuantizeLinear QLinearConv QLinearConv Transpose Reshape Transpose Reshape Transpose Slice "
            "Transpose "
            "QLinearConv DequantizeLinear ");
  expect_static_close(model);
}

TEST(StaticOps, ResizeToTheNearestMovesCodes) {
  const ModelBuilder model = between_convs([](GraphBuilder& graph) {
    graph.initializer("twice", {4}, {1, 1, 2, 2});
    graph.node("Resize", {"a", "", "twice"}, {"h"},
               {test::string_attribute("mode", "nearest"), test::string_attribute("nearest_mode", "floor"),
                test::string_attribute("coordinate_transformation_mode", "asymmetric")});
  });
  EXPECT_EQ(ops_of(Rewritten(model.bytes(), kQOperator.recipe()).model()),
            "QuantizeLinear QLinearConv Resize QLinearConv DequantizeLinear ");
  expect_static_close(model);
}

TEST(StaticOps, ASkippedRewriteLeavesTheOp) {
  const ModelBuilder model =
      between_convs([](GraphBuilder& graph) { graph.node("HardSwish", {"a"}, {"h"}); });
  Recipe recipe = kQOperator.recipe();
  recipe.integer.skip_rewrites = {Rewrite::kHardSwish};
  EXPECT_THAT(ops_of(Rewritten(model.bytes(), recipe).model()),
              HasSubstr("DequantizeLinear HardSwish QuantizeLinear"));
}

}  // namespace
}  // namespace ounce::passes
