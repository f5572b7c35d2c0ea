#include "target/ort/provider_ops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "target/target.h"

namespace ounce::target {
namespace {

using passes::test::ints_attribute;
using passes::test::ints_tensor;
using passes::test::noise;
using passes::test::string_attribute;
using test::int_attribute;
using test::kDouble;
using test::kFloat;
using test::kFloat16;
using test::kInt64;
using test::kInt8;
using test::kUint16;
using test::kUint8;
using test::ModelBuilder;
using testing::HasSubstr;

// Returns why the provider does not take the last node of the model; "" if it takes it.
std::string why_not(std::string_view provider, const ModelBuilder& builder, std::size_t body = 0) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const graph::Index index(model);
  const graph::ElementTypes types(model, index);
  const ProviderDocs docs(*find_provider_page(provider), model, index, types);
  std::string reason;
  return docs.documents(body, index.bodies()[body].nodes().size() - 1, reason) ? "" : reason;
}

ModelBuilder one_node(const std::string& op, const test::Dims& dims, const test::Strings& attributes = {},
                      int type = kFloat) {
  ModelBuilder model;
  model.input("x", type, dims).node(op, {"x"}, {"y"}, attributes);
  return model;
}

ModelBuilder conv(const test::Dims& weights, bool is_constant = true) {
  test::Dims x(weights.size(), 8);
  ModelBuilder model;
  model.input("x", kFloat, x);
  if (is_constant) model.initializer("w", weights, noise(weights));
  if (!is_constant) model.input("w", kFloat, weights);
  model.node("Conv", {"x", "w"}, {"y"});
  return model;
}

TEST(ProviderOps, EveryPageSaysWhereItComesFrom) {
  std::set<std::string_view> names;
  for (const ProviderPage& page : provider_pages()) {
    EXPECT_TRUE(names.insert(page.provider).second);
    EXPECT_THAT(page.source, HasSubstr("20")) << page.provider;
    EXPECT_NE(find_provider(page.provider.substr(0, page.provider.find('-'))), nullptr) << page.provider;
    EXPECT_FALSE(page.ops.empty());
  }
  EXPECT_EQ(find_provider_page("cpu"), nullptr);
  EXPECT_EQ(find_provider_page(""), nullptr);
}

TEST(ProviderOps, NoOpIsListedTwice) {
  for (const ProviderPage& page : provider_pages()) {
    std::set<std::string> seen;
    for (const ProviderOp& op : page.ops) {
      for (const std::string_view type : op.op_types)
        EXPECT_TRUE(seen.insert(fmt::format("{}:{}", op.domain, type)).second)
            << page.provider << " " << type;
    }
  }
}

TEST(ProviderOps, AnUnlistedOpStays) {
  for (const ProviderPage& page : provider_pages())
    EXPECT_EQ(why_not(page.provider, one_node("Det", {4, 4})), "not in the list");
  ModelBuilder model;
  model.input("x", kFloat, {4}).add(1, test::node("Relu", {"x"}, {"y"}, {}, "", "somebody.else"));
  EXPECT_EQ(why_not("qnn", model), "not in the list");
}

TEST(ProviderOps, ConvolutionsHaveConstantWeightsAndTwoDimensions) {
  for (const char* provider : {"xnnpack", "nnapi", "coreml", "coreml-mlprogram", "qnn"})
    EXPECT_EQ(why_not(provider, conv({4, 8, 3, 3})), "") << provider;
  for (const char* provider : {"xnnpack", "nnapi", "coreml"})
    EXPECT_EQ(why_not(provider, conv({4, 8, 3, 3}, false)), "only with constant weights") << provider;
  EXPECT_EQ(why_not("coreml-mlprogram", conv({4, 8, 3, 3}, false)), "");
  EXPECT_EQ(why_not("xnnpack", conv({4, 8, 3})), "only with 2-D windows");
  EXPECT_EQ(why_not("coreml", conv({4, 8, 3})), "");
  EXPECT_EQ(why_not("coreml", conv({4, 8, 3, 3, 3})), "only with 1-D or 2-D windows");
  EXPECT_EQ(why_not("qnn", conv({4, 8, 3, 3, 3})), "");
}

TEST(ProviderOps, AnInitializerThatCallersMayReplaceIsNoConstant) {
  ModelBuilder model = conv({4, 8, 3, 3});
  model.input("w", kFloat, {4, 8, 3, 3});
  EXPECT_EQ(why_not("nnapi", model), "only with constant weights");
}

TEST(ProviderOps, WhatIsComputedFromConstantsIsOne) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 8, 8}).initializer("w", {3, 3, 8, 4}, noise({3, 3, 8, 4}));
  model.node("Transpose", {"w"}, {"t"}, {ints_attribute("perm", {3, 2, 0, 1})});
  model.node("Conv", {"x", "t"}, {"y"});
  EXPECT_EQ(why_not("xnnpack", model), "");
}

TEST(ProviderOps, QuantizedWeightsAreConstant) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 1, 4, 4}).initializer("s", {}, {0.5F});
  model.initializer(test::tensor("q", kInt8, {1, 1, 1, 1}, "\x01"));
  model.node("DequantizeLinear", {"q", "s"}, {"w"}).node("Conv", {"x", "w"}, {"y"});
  EXPECT_EQ(why_not("nnapi", model), "");
}

TEST(ProviderOps, TypesAreThoseOfThePage) {
  const auto relu = [](int type) { return one_node("Relu", {1, 4}, {}, type); };
  EXPECT_EQ(why_not("coreml", relu(kFloat16)), "not for float16");
  EXPECT_EQ(why_not("coreml-mlprogram", relu(kFloat16)), "");
  EXPECT_EQ(why_not("qnn", relu(kFloat16)), "");
  EXPECT_EQ(why_not("nnapi", relu(kFloat16)), "not for float16");
  for (const char* provider : {"nnapi", "coreml", "coreml-mlprogram", "qnn"})
    EXPECT_EQ(why_not(provider, relu(kDouble)), "not for float64") << provider;
  EXPECT_EQ(why_not("coreml", one_node("Shape", {1, 4}, {}, kDouble)), "");
}

TEST(ProviderOps, ShapesThatVaryAreFollowed) {
  ModelBuilder model;
  model.input("x", kFloat, {-1, 4}).node("Relu", {"x"}, {"r"}).node("Sqrt", {"r"}, {"y"});
  EXPECT_EQ(why_not("qnn", model), "only with fixed shapes: 'r' is dynamic");
  EXPECT_EQ(why_not("nnapi", model), "only with fixed shapes: 'r' is dynamic");
  EXPECT_EQ(why_not("coreml-mlprogram", model), "");
  model.add(13, test::value_info("r", kFloat, {1, 4}));  // a declared shape takes precedence
  EXPECT_EQ(why_not("qnn", model), "");
}

TEST(ProviderOps, DimensionsAreCountedBehindKnownShapes) {
  ModelBuilder model;
  model.input("x", kFloat, {-1, 8, 8}).initializer("w", {8, 8, 3}, noise({8, 8, 3}));
  model.node("Conv", {"x", "w"}, {"c"}).node("Clip", {"c"}, {"r"}).node("Add", {"r", "c"}, {"a"});
  model.node("GlobalAveragePool", {"a"}, {"y"});
  EXPECT_EQ(why_not("coreml", model), "only with 2-D windows");
}

TEST(ProviderOps, NodesInsideOfOthersStay) {
  test::GraphBuilder branch;
  branch.output("b", kFloat, {4}).node("Softmax", {"x"}, {"b"});
  ModelBuilder model;
  model.input("x", kFloat, {4}).input("c", 9, {});
  model.node("If", {"c"}, {"y"},
             {test::graph_attribute("then_branch", branch.bytes()),
              test::graph_attribute("else_branch", branch.bytes())});
  for (const char* provider : {"nnapi", "coreml", "coreml-mlprogram", "qnn"})
    EXPECT_EQ(why_not(provider, model, 1), "inside another node") << provider;
  EXPECT_EQ(why_not("xnnpack", model, 1), "");
  EXPECT_EQ(why_not("qnn", model), "");
}

ModelBuilder resize(const test::Strings& attributes, const test::Dims& dims = {1, 3, 8, 8}) {
  ModelBuilder model;
  model.input("x", kFloat, dims).initializer("s", {4}, {1, 1, 2, 2});
  model.node("Resize", {"x", "", "s"}, {"y"}, attributes);
  return model;
}

TEST(ProviderOps, ResizeHasAModeForEachProvider) {
  const std::string linear = string_attribute("mode", "linear"),
                    asymmetric = string_attribute("coordinate_transformation_mode", "asymmetric"),
                    odd = string_attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn"),
                    floor = string_attribute("nearest_mode", "floor");
  EXPECT_EQ(why_not("xnnpack", resize({linear})), "");
  EXPECT_EQ(why_not("xnnpack", resize({})), "only with mode linear");
  EXPECT_EQ(why_not("xnnpack", resize({linear}, {1, 3, 8})), "only with rank 2 or 4");
  EXPECT_EQ(why_not("coreml", resize({linear, asymmetric})), "");
  EXPECT_EQ(why_not("coreml", resize({linear})), "only with asymmetric coordinates");
  EXPECT_EQ(why_not("coreml", resize({asymmetric})), "only with mode linear or nearest with floor");
  EXPECT_EQ(why_not("coreml", resize({asymmetric, floor})), "");
  EXPECT_EQ(why_not("coreml-mlprogram", resize({linear, int_attribute("antialias", 1)})),
            "only with antialias 0");
  EXPECT_EQ(why_not("nnapi", resize({}, {1, 3, 8})), "only with rank 4");
  EXPECT_EQ(why_not("qnn", resize({odd, floor})), "");
  EXPECT_THAT(why_not("qnn", resize({odd, linear})), HasSubstr("tf_half_pixel_for_nn"));
}

ModelBuilder pad(const std::vector<std::int64_t>& pads, const test::Strings& attributes = {}) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 8, 8}).initializer(ints_tensor("p", pads));
  model.node("Pad", {"x", "p"}, {"y"}, attributes);
  return model;
}

TEST(ProviderOps, PaddingIsReadFromItsValues) {
  EXPECT_EQ(why_not("coreml", pad({0, 0, 1, 1, 0, 0, 1, 1})), "");
  EXPECT_EQ(why_not("coreml", pad({0, 1, 1, 1, 0, 0, 1, 1})), "only with padding of the last two dimensions");
  EXPECT_EQ(why_not("nnapi", pad({0, 0, -1, 1, 0, 0, 1, 1})), "only with padding that is not negative");
  EXPECT_EQ(why_not("nnapi", pad({0, 0, 1, 1, 0, 0, 1, 1}, {string_attribute("mode", "reflect")})),
            "only with mode constant");
  EXPECT_EQ(why_not("nnapi", pad({})), "");
}

TEST(ProviderOps, SoftmaxOfXnnpackHasTheLastAxis) {
  EXPECT_EQ(why_not("xnnpack", one_node("Softmax", {2, 3, 4})), "");
  EXPECT_EQ(why_not("xnnpack", one_node("Softmax", {2, 3, 4}, {int_attribute("axis", 2)})), "");
  EXPECT_EQ(why_not("xnnpack", one_node("Softmax", {2, 3, 4}, {int_attribute("axis", 1)})),
            "only with the last axis");
}

// x and w as integers of these types, each with a DequantizeLinear.
ModelBuilder quantized_matmul(int x, int w) {
  ModelBuilder model;
  model.input("qx", x, {4, 4}).input("qw", w, {4, 4}).initializer("s", {}, {0.5F});
  model.node("DequantizeLinear", {"qx", "s"}, {"x"}).node("DequantizeLinear", {"qw", "s"}, {"w"});
  model.node("MatMul", {"x", "w"}, {"y"});
  return model;
}

TEST(ProviderOps, MatricesOfQnnAreUnsigned) {
  EXPECT_EQ(why_not("qnn", quantized_matmul(kUint8, kUint8)), "");
  EXPECT_EQ(why_not("qnn", quantized_matmul(kUint16, kUint8)), "");
  EXPECT_THAT(why_not("qnn", quantized_matmul(kUint16, kUint16)), HasSubstr("not both uint16"));
  EXPECT_THAT(why_not("qnn", quantized_matmul(kUint8, kInt8)), HasSubstr("uint8 or uint16"));
}

// x ─ DequantizeLinear ─ op ─ QuantizeLinear
ModelBuilder between_integers(const std::string& op) {
  ModelBuilder model;
  model.input("q", kUint8, {1, 3, 8, 8}).initializer("s", {}, {0.5F});
  model.initializer(test::tensor("z", kUint8, {}, std::string(1, '\0')));
  model.node("DequantizeLinear", {"q", "s", "z"}, {"x"}).node(op, {"x"}, {"y"});
  model.node("QuantizeLinear", {"y", "s", "z"}, {"o"});
  return model;
}

TEST(ProviderOps, XnnpackTakesQuantizedOpsWhole) {
  EXPECT_EQ(why_not("xnnpack", between_integers("Softmax")), "");
  EXPECT_EQ(why_not("xnnpack", between_integers("Relu")), "the op that it belongs to is not supported");
  EXPECT_EQ(why_not("nnapi", between_integers("Relu")), "");
}

TEST(ProviderOps, DynamicQuantizationNeedsItsIntegerOp) {
  ModelBuilder model;
  model.input("x", kFloat, {4, 4}).node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  EXPECT_EQ(why_not("qnn", model), "only with ConvInteger or MatMulInteger behind it");
  model.initializer(test::tensor("w", kUint8, {4, 4}, std::string(16, '\1')));
  model.node("MatMulInteger", {"q", "w", "z"}, {"y"});
  EXPECT_EQ(why_not("qnn", model), "");
}

TEST(ProviderOps, GatherIndicesAreLookedAt) {
  const auto gather = [](const std::vector<std::int64_t>& values, bool is_scalar) {
    ModelBuilder model;
    model.input("x", kFloat, {4, 4});
    if (is_scalar) model.initializer(test::tensor("i", kInt64, {}, std::string(8, '\0')));
    if (!is_scalar) model.initializer(ints_tensor("i", values));
    model.node("Gather", {"x", "i"}, {"y"});
    return model;
  };
  EXPECT_EQ(why_not("qnn", gather({0, 3}, false)), "");
  EXPECT_EQ(why_not("qnn", gather({0, -1}, false)), "only with indices that are not negative");
  EXPECT_EQ(why_not("coreml", gather({0}, false)), "");
  EXPECT_EQ(why_not("coreml", gather({}, true)), "only with indices that are no scalar");
  EXPECT_EQ(why_not("nnapi", gather({0}, false)), "");
}

TEST(ProviderOps, OddNodesDoNoHarm) {
  ModelBuilder model;
  model.input("x", kFloat, {4});
  for (const char* op :
       {"Conv", "Pad", "Gather", "Resize", "QLinearConv", "DequantizeLinear", "Softmax", "Split", "PRelu",
        "MatMul", "GridSample", "ConvInteger", "QLinearMatMul", "If", "Shape"}) {
    for (const ProviderPage& page : provider_pages()) {
      ModelBuilder without(model);
      without.node(op, {}, {});
      why_not(page.provider, without);
      ModelBuilder with(model);
      with.node(op, {"", "x", "", "", "", "", "", "", "x"}, {"", "y"});
      why_not(page.provider, with);
    }
  }
}

}  // namespace
}  // namespace ounce::target
