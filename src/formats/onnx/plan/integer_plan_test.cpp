#include "formats/onnx/plan/integer_plan.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>
#include <limits>
#include <random>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::plan {
namespace {

using test::Dims;
using test::error_of;
using test::field;
using test::float_tensor;
using test::graph_attribute;
using test::GraphBuilder;
using test::int_attribute;
using test::kBool;
using test::kFloat;
using test::kInt64;
using test::ModelBuilder;
using test::ramp;
using test::Strings;
using test::tensor_attribute;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Observed values: `channels` runs of `stride` values.
struct Seen {
  std::vector<float> values;
  std::size_t channels = 1, stride = 1;
};
// With uint8 the first has scale 0.01 and zero point 100, the other 0.01 and 0.
const Seen kSigned{{-1, 1.55F}}, kPositive{{0, 2.55F}};

calibration::Ranges seen(const std::map<std::string, Seen>& values) {
  calibration::Ranges ranges;
  for (const auto& [name, value] : values)
    ranges.values[name].add(value.values, value.channels, value.stride);
  return ranges;
}
// All of them have both signs, except those whose names end in r.
calibration::Ranges ranges_of(const Strings& names) {
  std::map<std::string, Seen> values;
  for (const std::string& name : names) values.emplace(name, name.back() == 'r' ? kPositive : kSigned);
  return seen(values);
}

Recipe static_recipe() {
  Recipe recipe;
  recipe.format = Format::kInt8;
  recipe.fp16_budget = 0;
  recipe.integer.calibration = CalibrationMethod::kMinMax;
  recipe.integer.correct_bias = false;
  return recipe;
}
Recipe dynamic_recipe() {
  Recipe recipe = static_recipe();
  recipe.format = Format::kInt8Dynamic;
  return recipe;
}

// A plan with its model.
struct Planned {
  std::string bytes;
  onnx::Model model;
  graph::Index index;
  Plan plan;

  explicit Planned(const GraphBuilder& builder, const Recipe& recipe,
                   const calibration::Ranges* ranges = nullptr)
      : bytes(builder.bytes()),
        model(onnx::read_model_from_memory(bytes, "model")),
        index(graph::validate(model)) {
    ThreadPool pool(2);
    plan = make_plan(model, index, recipe, pool, ranges);
  }

  const Decision& decision(const std::string& name) const {
    for (const Decision& decision : plan.decisions) {
      if (decision.weight.name == name) return decision;
    }
    ADD_FAILURE() << "no tensor " << name;
    return plan.decisions.front();
  }
};

std::string integer_text(const GraphBuilder& builder, const calibration::Ranges& ranges,
                         const Recipe& recipe = static_recipe()) {
  return Planned(builder, recipe, &ranges).plan.integer.text();
}
std::string dynamic_text(const GraphBuilder& builder, const Recipe& recipe = dynamic_recipe()) {
  return Planned(builder, recipe).plan.integer.text();
}
// Only the lines of nodes.
std::string node_lines(const std::string& text) {
  const std::size_t values = text.find("value ");
  return text.substr(0, values);
}

// y = Conv(x, w), [1, 4, 8, 8] → [1, 4, 8, 8]; the weight is named "w" plus the output's name.
void add_conv(GraphBuilder& graph, const std::string& x, const std::string& y, const std::string& bias = {}) {
  const Dims dims = {4, 4, 1, 1};
  graph.initializer("w" + y, dims, ramp(dims));
  Strings inputs = {x, "w" + y};
  if (!bias.empty()) inputs.push_back(bias);
  graph.node("Conv", inputs, {y});
}
void add_gemm(GraphBuilder& graph, const std::string& x, const std::string& y) {
  graph.initializer("w" + y, {4, 4}, ramp({4, 4})).node("Gemm", {x, "w" + y}, {y});
}

ModelBuilder images() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 8, 8}).output("y", kFloat, {1, 4, 8, 8});
  return model;
}
ModelBuilder rows() {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 4});
  return model;
}

// x ─ Conv ─ a ─ Relu ─ r ─ Conv ─ y
ModelBuilder conv_relu_conv() {
  ModelBuilder model = images();
  model.initializer("b", {4}, {1, 2, 3, 4});
  add_conv(model, "x", "a", "b");
  model.node("Relu", {"a"}, {"r"});
  add_conv(model, "r", "y");
  return model;
}

TEST(IntegerPlan, AReluIsWhereTheCodesOfAConvEnd) {
  const calibration::Ranges ranges = ranges_of({"x", "a", "r", "y"});
  EXPECT_EQ(Planned(conv_relu_conv(), static_recipe(), &ranges).plan.text(),
            "b float32[4] -> int32 channel 0 dq: bias of an integer Conv\n"
            "wa float32[4,4,1,1] -> int8 channel 0 dq pairs: weight of an integer Conv\n"
            "wy float32[4,4,1,1] -> int8 channel 0 dq pairs: weight of an integer Conv\n"
            "node 0:0 static -> r, codes, clamped by its codes\n"
            "node 0:2 static -> y, codes\n"
            "value 0:r uint8 scale 0.01 zero 0\n"
            "value 0:x uint8 scale 0.01 zero 100\n"
            "value 0:y uint8 scale 0.01 zero 100\n");
  Recipe qoperator = static_recipe();
  qoperator.integer.dialect = Dialect::kQOperator;
  qoperator.granularity.kind = GranularityKind::kTensor;
  EXPECT_THAT(Planned(conv_relu_conv(), qoperator, &ranges).plan.text(),
              StartsWith("b float32[4] -> int32 tensor kernel: bias of an integer Conv\n"
                         "wa float32[4,4,1,1] -> int8 tensor kernel pairs: weight of an integer Conv\n"));
}

TEST(IntegerPlan, WithoutRangesNothingIsStatic) {
  EXPECT_EQ(Planned(conv_relu_conv(), static_recipe()).plan.integer.text(), "");
}

TEST(IntegerPlan, AClipIsWhereTheCodesOfAConvEnd) {
  ModelBuilder model = images();
  model.initializer("zero", {}, {0}).initializer("six", {}, {6});
  add_conv(model, "x", "a");
  model.node("Clip", {"a", "zero", "six"}, {"r"});
  add_conv(model, "r", "y");
  EXPECT_EQ(integer_text(model, ranges_of({"x", "a", "r", "y"})),
            "node 0:0 static -> r, codes, clamped by its codes\n"
            "node 0:2 static -> y, codes\n"
            "value 0:r uint8 scale 0.01 zero 0\n"
            "value 0:x uint8 scale 0.01 zero 100\n"
            "value 0:y uint8 scale 0.01 zero 100\n");
}

// x ─ Conv ─ a ─ Relu ─ r ─ Conv ─ y, and a is also used elsewhere.
TEST(IntegerPlan, AReluStaysWhenItsInputIsUsedElsewhere) {
  const std::string expected =
      "node 0:0 static -> a, codes\n"
      "node 0:2 static -> y, codes\n"
      "value 0:a uint8 scale 0.01 zero 100\n"
      "value 0:r uint8 scale 0.01 zero 0\n"
      "value 0:x uint8 scale 0.01 zero 100\n"
      "value 0:y uint8 scale 0.01 zero 100\n";
  ModelBuilder used = conv_relu_conv();
  used.node("Exp", {"a"}, {"e"}).output("e", kFloat, {1, 4, 8, 8});
  EXPECT_EQ(integer_text(used, ranges_of({"x", "a", "r", "y"})), expected);
  ModelBuilder given = conv_relu_conv();
  given.output("a", kFloat, {1, 4, 8, 8});
  EXPECT_EQ(integer_text(given, ranges_of({"x", "a", "r", "y"})), expected);
}

// Moved values keep their quantized range, which here includes negative values.
TEST(IntegerPlan, AReluBehindAnOpThatMovesCodesStaysOrHasCodesOfItsOwn) {
  ModelBuilder model = images();
  add_conv(model, "x", "a");
  model.node("Transpose", {"a"}, {"t"}).node("Relu", {"t"}, {"r"});
  add_conv(model, "r", "y");
  EXPECT_THAT(integer_text(model, ranges_of({"x", "a", "t", "r", "y"})),
              HasSubstr("value 0:r uint8 scale 0.01 zero 0\n"));
}

// Zero must be representable, so the quantized range cannot end above or below it.
TEST(IntegerPlan, AClipThatKeepsAwayFromZeroStays) {
  for (const auto& [low, high] : {std::pair{0.5F, 2.55F}, std::pair{-1.0F, -0.25F}}) {
    ModelBuilder model = images();
    model.initializer("low", {}, {low}).initializer("high", {}, {high});
    add_conv(model, "x", "a");
    model.node("Clip", {"a", "low", "high"}, {"c"});
    add_conv(model, "c", "y");
    const calibration::Ranges ranges =
        seen({{"x", kSigned}, {"a", kSigned}, {"c", Seen{{low, high}}}, {"y", kSigned}});
    EXPECT_THAT(integer_text(model, ranges), Not(HasSubstr("clamped")));
  }
}

// A configured range may exceed the limits of the Relu: then the Relu is kept, or it limits the range.
TEST(IntegerPlan, AReluHoldsWhateverRangeIsAskedFor) {
  Recipe recipe = static_recipe();
  recipe.integer.values["r"].range = ValueRange{-1, 1.55};
  const std::string text = integer_text(conv_relu_conv(), ranges_of({"x", "a", "r", "y"}), recipe);
  EXPECT_TRUE(text.find("clamped") == std::string::npos || text.find(" zero 0\n") != std::string::npos)
      << text;
}

// Limits from the caller or another node may change between runs.
TEST(IntegerPlan, AClipWhoseLimitsAreNotConstantStays) {
  ModelBuilder given = images();
  given.input("low", kFloat, {}).input("high", kFloat, {});
  add_conv(given, "x", "a");
  given.node("Clip", {"a", "low", "high"}, {"r"});
  add_conv(given, "r", "y");
  EXPECT_THAT(integer_text(given, ranges_of({"x", "a", "r", "y"})), Not(HasSubstr("clamped")));
}

// x ─ Conv ─ a ┬ Conv ─ c ┐
//              └──────────┴ Add ─ s ─ Conv ─ y
ModelBuilder residual(const std::string& joint) {
  ModelBuilder model = images();
  add_conv(model, "x", "a");
  add_conv(model, "a", "c");
  model.node(joint, {"a", "c"}, {"s"});
  return model;
}

TEST(IntegerPlan, ASumBetweenConvsIsOfCodes) {
  ModelBuilder model = residual("Add");
  add_conv(model, "s", "y");
  EXPECT_EQ(integer_text(model, ranges_of({"x", "a", "c", "s", "y"})),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> c, codes\n"
            "node 0:2 static -> s, codes\n"
            "node 0:3 static -> y, codes\n"
            "value 0:a uint8 scale 0.01 zero 100\n"
            "value 0:c uint8 scale 0.01 zero 100\n"
            "value 0:s uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n"
            "value 0:y uint8 scale 0.01 zero 100\n");
}

TEST(IntegerPlan, ASumThatOnlyFloatsFollowIsOfFloats) {
  ModelBuilder model = residual("Add");
  model.node("Exp", {"s"}, {"y"});
  EXPECT_EQ(node_lines(integer_text(model, ranges_of({"x", "a", "c", "s", "y"}))),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> c, codes\n");
}

TEST(IntegerPlan, ASumWithAConstantIsOfFloats) {
  ModelBuilder model = images();
  model.initializer("k", {1, 4, 1, 1}, {1, 2, 3, 4});
  add_conv(model, "x", "a");
  model.node("Add", {"a", "k"}, {"s"});
  add_conv(model, "s", "y");
  EXPECT_EQ(node_lines(integer_text(model, ranges_of({"x", "a", "k", "s", "y"}))),
            "node 0:0 static -> a, codes\n"
            "node 0:2 static -> y, codes\n");
}

TEST(IntegerPlan, ConcatIsOfCodesAndMayBeClamped) {
  ModelBuilder model = images();
  add_conv(model, "x", "a");
  add_conv(model, "a", "c");
  model.node("Concat", {"a", "c"}, {"s"}, {int_attribute("axis", 2)}).node("Relu", {"s"}, {"r"});
  add_conv(model, "r", "y");
  EXPECT_EQ(node_lines(integer_text(model, ranges_of({"x", "a", "c", "s", "r", "y"}))),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> c, codes\n"
            "node 0:2 static -> r, codes, clamped by its codes\n"
            "node 0:4 static -> y, codes\n");
}

TEST(IntegerPlan, WhatIsMovedKeepsItsCodesAndAGemmAtTheEndGivesFloats) {
  ModelBuilder model = rows();
  model.input("i", kFloat, {2, 4, 8, 8});
  add_conv(model, "i", "a");
  model.node("GlobalAveragePool", {"a"}, {"g"}).node("Flatten", {"g"}, {"f"});
  add_gemm(model, "f", "y");
  const calibration::Ranges ranges =
      seen({{"i", kSigned}, {"a", kSigned}, {"g", Seen{{0, 5.1F}}}, {"f", kPositive}, {"y", kSigned}});
  EXPECT_EQ(integer_text(model, ranges),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> g, codes\n"
            "node 0:2 static -> f, codes\n"
            "node 0:3 static -> y\n"
            "value 0:a uint8 scale 0.01 zero 100\n"
            "value 0:f uint8 scale 0.02 zero 0\n"
            "value 0:g uint8 scale 0.02 zero 0\n"
            "value 0:i uint8 scale 0.01 zero 100\n");
}

TEST(IntegerPlan, AGemmInTheMiddleGivesCodesAndTakesItsRelu) {
  ModelBuilder model = rows();
  add_gemm(model, "x", "a");
  model.node("Relu", {"a"}, {"r"});
  add_gemm(model, "r", "b");
  model.node("Relu", {"b"}, {"y"});
  EXPECT_EQ(node_lines(integer_text(model, ranges_of({"x", "a", "r", "b", "y"}))),
            "node 0:0 static -> r, codes, clamped by its codes\n"
            "node 0:2 static -> b\n");
}

// A value without a range must not be used as quantized.
TEST(IntegerPlan, AGemmWhoseOutputHasNoCodesGivesFloats) {
  ModelBuilder model = rows();
  add_gemm(model, "x", "a");
  model.node("Transpose", {"a"}, {"t"});
  add_gemm(model, "t", "y");
  EXPECT_EQ(integer_text(model, ranges_of({"x", "t", "y"})),
            "node 0:0 static -> a\n"
            "node 0:2 static -> y\n"
            "value 0:t uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n");
}

TEST(IntegerPlan, AMatMulGivesFloatsToTheMaskAndTheSoftmaxBehindIt) {
  ModelBuilder model = rows();
  model.initializer("mask", {4}, {0, 0, 0, -1e30F}).initializer("wa", {4, 4}, ramp({4, 4}));
  model.initializer("wy", {4, 4}, ramp({4, 4}));
  model.node("MatMul", {"x", "wa"}, {"a"}).node("Add", {"a", "mask"}, {"s"}).node("Softmax", {"s"}, {"p"});
  model.node("MatMul", {"p", "wy"}, {"y"});
  EXPECT_EQ(integer_text(model, ranges_of({"x", "a", "s", "p", "y"})),
            "node 0:0 static -> a\n"
            "node 0:3 static -> y\n"
            "value 0:p uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n");
}

TEST(IntegerPlan, SaysWhyOpsWithWeightsStayFloat) {
  ModelBuilder transposed = images();
  transposed.initializer("w", {4, 4, 1, 1}, ramp({4, 4, 1, 1}));
  transposed.node("ConvTranspose", {"x", "w"}, {"y"});
  EXPECT_EQ(integer_text(transposed, ranges_of({"x", "y"})),
            "node 0:0 float: ConvTranspose has no integer kernel\n");

  ModelBuilder computed = rows();
  computed.node("Transpose", {"x"}, {"t"}).node("MatMul", {"x", "t"}, {"y"});
  EXPECT_EQ(integer_text(computed, ranges_of({"x", "t", "y"})),
            "node 0:1 float: its weight is not constant\n");

  ModelBuilder stacked = rows();
  stacked.initializer("w", {2, 4, 4}, ramp({2, 4, 4})).node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(integer_text(stacked, ranges_of({"x", "y"})), "node 0:0 float: its weight is not a matrix\n");

  ModelBuilder scaled = rows();
  scaled.initializer("w", {4, 4}, ramp({4, 4}));
  scaled.node("Gemm", {"x", "w"}, {"y"}, {int_attribute("transA", 1)});
  EXPECT_EQ(integer_text(scaled, ranges_of({"x", "y"})),
            "node 0:0 float: its left input is transposed (transA)\n");

  ModelBuilder given = images();
  given.input("wy", kFloat, {4, 4, 1, 1});
  add_conv(given, "x", "y");
  EXPECT_EQ(integer_text(given, ranges_of({"x", "y"})), "node 0:0 float: its weight is not constant\n");

  ModelBuilder wide = images();
  wide.initializer("b", {1, 4}, ramp({1, 4}));
  add_conv(wide, "x", "y", "b");
  EXPECT_EQ(integer_text(wide, ranges_of({"x", "y"})),
            "node 0:0 float: its bias is not one float32 value per channel\n");
}

TEST(IntegerPlan, AWeightMayServeTwoConvs) {
  ModelBuilder model = images();
  model.initializer("w", {4, 4, 1, 1}, ramp({4, 4, 1, 1}));
  model.node("Conv", {"x", "w"}, {"a"}).node("Conv", {"a", "w"}, {"y"});
  const calibration::Ranges ranges = ranges_of({"x", "a", "y"});
  EXPECT_EQ(Planned(model, static_recipe(), &ranges).plan.text(),
            "w float32[4,4,1,1] -> int8 channel 0 dq pairs: weight of an integer Conv\n"
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> y, codes\n"
            "value 0:a uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n"
            "value 0:y uint8 scale 0.01 zero 100\n");
}

TEST(IntegerPlan, AWeightThatIsAlsoATableStaysFloat) {
  ModelBuilder model = rows();
  model.input("i", kInt64, {1}).output("z", kFloat, {1, 4});
  model.initializer("w", {4, 4}, ramp({4, 4}));
  model.node("MatMul", {"x", "w"}, {"y"}).node("Gather", {"w", "i"}, {"z"});
  EXPECT_EQ(integer_text(model, ranges_of({"x", "y"})), "node 0:0 float: its weight also feeds Gather\n");
}

TEST(IntegerPlan, ABiasOfTwoStaysFloat) {
  ModelBuilder model = images();
  model.initializer("b", {4}, ramp({4}));
  add_conv(model, "x", "a", "b");
  add_conv(model, "a", "y", "b");
  EXPECT_EQ(integer_text(model, ranges_of({"x", "a", "y"})),
            "node 0:0 float: its bias is used elsewhere too\n"
            "node 0:1 float: its bias is used elsewhere too\n");
}

TEST(IntegerPlan, ValuesNeedARangeOfFiniteNumbers) {
  ModelBuilder model = images();
  add_conv(model, "x", "a");
  add_conv(model, "a", "y");
  EXPECT_EQ(node_lines(integer_text(model, ranges_of({"x", "y"}))),
            "node 0:0 float: no range of 'a' was observed\n"
            "node 0:1 float: no range of 'a' was observed\n");
  const float infinite = std::numeric_limits<float>::infinity();
  const calibration::Ranges ranges = seen({{"x", kSigned}, {"a", kSigned}, {"y", Seen{{1, 2, infinite}}}});
  EXPECT_EQ(node_lines(integer_text(model, ranges)),
            "node 0:0 static -> a, codes\n"
            "node 0:1 float: 'y' has NaN or infinite values\n");
  EXPECT_EQ(node_lines(integer_text(model, seen({{"x", kSigned}, {"a", Seen{{infinite}}}, {"y", kSigned}}))),
            "node 0:0 float: no range of 'a' was observed\n"
            "node 0:1 float: no range of 'a' was observed\n");
}

TEST(IntegerPlan, ValuesThatNeverVaryStayFloat) {
  EXPECT_EQ(
      node_lines(integer_text(conv_relu_conv(),
                              seen({{"x", kSigned}, {"a", kSigned}, {"r", Seen{{2, 2}}}, {"y", kSigned}}))),
      "node 0:0 float: 'r' is constant in the calibration data\n"
      "node 0:2 float: 'r' is constant in the calibration data\n");
}

// Calibration observes enough for every plan that keeps some nodes in FP32.
TEST(IntegerPlan, CalibrationLooksAtWhatAPlanCanWant) {
  ModelBuilder model = rows();
  model.input("i", kFloat, {2, 4, 8, 8});
  add_conv(model, "i", "a");
  model.node("Relu", {"a"}, {"r"}).node("GlobalAveragePool", {"r"}, {"g"}).node("Flatten", {"g"}, {"f"});
  add_gemm(model, "f", "h");
  model.node("Exp", {"h"}, {"e"});
  add_gemm(model, "e", "y");
  const Planned planned(model, static_recipe());
  Strings names;
  for (const auto& [body, name] : static_needs(planned.model, planned.index).values) names.emplace_back(name);
  EXPECT_THAT(names, ElementsAre("e", "f", "g", "i", "r", "y"));
}

TEST(IntegerPlan, IncludesAndExcludes) {
  const calibration::Ranges ranges = ranges_of({"x", "a", "c", "s", "y"});
  ModelBuilder model = residual("Add");
  add_conv(model, "s", "y");
  Recipe recipe = static_recipe();
  recipe.exclude = {"wc"};
  EXPECT_EQ(node_lines(integer_text(model, ranges, recipe)),
            "node 0:0 static -> a, codes\n"
            "node 0:1 float: excluded by 'wc'\n"
            "node 0:3 static -> y, codes\n");
  recipe.exclude = {"Add"};  // also applies to ops without weights
  EXPECT_EQ(node_lines(integer_text(model, ranges, recipe)),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> c, codes\n"
            "node 0:3 static -> y, codes\n");
  recipe.exclude = {};
  recipe.include = {"w[ac]"};
  EXPECT_EQ(node_lines(integer_text(model, ranges, recipe)),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> c, codes\n"
            "node 0:3 float: not included\n");
  recipe.include = {"nobody"};
  EXPECT_EQ(error_of([&] { integer_text(model, ranges, recipe); }).code(), ErrorCode::kUsage);
}

TEST(IntegerPlan, NodesThatAreBetterInFloatsAreNamedByTheirOutput) {
  Recipe recipe = static_recipe();
  recipe.nodes = {{"a", Format::kW8}};
  EXPECT_EQ(node_lines(integer_text(conv_relu_conv(), ranges_of({"x", "a", "r", "y"}), recipe)),
            "node 0:0 float: kept in FP32 by the recipe\n"
            "node 0:2 static -> y, codes\n");
}

TEST(IntegerPlan, OverridesSayHowAValueIsCoded) {
  ModelBuilder model = images();
  add_conv(model, "x", "a");
  add_conv(model, "a", "y");
  std::vector<float> many(10000, 0.5F);
  many.insert(many.end(), {-1, 100});
  const calibration::Ranges ranges = seen({{"x", kSigned}, {"a", kSigned}, {"y", Seen{many}}});
  Recipe recipe = static_recipe();
  recipe.integer.values["x"].range = ValueRange{-2, 3.1};
  recipe.integer.values["a"].type = ActivationType::kS8;
  recipe.integer.values["y"].method = CalibrationMethod::kPercentile;
  const Planned planned(model, recipe, &ranges);
  const auto& activations = planned.plan.integer.activations;
  EXPECT_THAT(planned.plan.integer.text(),
              HasSubstr("value 0:a int8 scale 0.01 zero -28\nvalue 0:x uint8 scale 0.02 zero 100\n"));
  const ActivationQuantization& y = activations.at({0, "y"});
  EXPECT_EQ(y.method, CalibrationMethod::kPercentile);
  EXPECT_LT(y.range.high, 2);
  EXPECT_EQ(activations.at({0, "a"}).method, CalibrationMethod::kMinMax);
}

TEST(IntegerPlan, OverridesKeepValuesFloat) {
  ModelBuilder model = images();
  add_conv(model, "x", "a");
  add_conv(model, "a", "y");
  Recipe recipe = static_recipe();
  recipe.integer.values["y"].keep_float = true;
  EXPECT_EQ(node_lines(integer_text(model, ranges_of({"x", "a", "y"}), recipe)),
            "node 0:0 static -> a, codes\n"
            "node 0:1 float: 'y' is kept in FP32 by the configuration\n");
  recipe.integer.values["nobody"].keep_float = true;
  const Error error = error_of([&] { integer_text(model, ranges_of({"x", "a", "y"}), recipe); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("'nobody'"));
}

TEST(IntegerPlan, AGemmDoesNotCodeAValueThatIsToStayFloat) {
  ModelBuilder model = rows();
  add_gemm(model, "x", "a");
  model.node("Transpose", {"a"}, {"t"});
  add_gemm(model, "t", "y");
  Recipe recipe = static_recipe();
  recipe.integer.values["a"].keep_float = true;
  EXPECT_THAT(integer_text(model, ranges_of({"x", "a", "t", "y"}), recipe), Not(HasSubstr("value 0:a")));
}

// Both branches name their values h and z, and capture x.
ModelBuilder branches() {
  const auto branch = [] {
    GraphBuilder graph;
    graph.output("z", kFloat, {1, 4, 8, 8});
    add_conv(graph, "x", "h");
    add_conv(graph, "h", "z");
    return graph.bytes();
  };
  ModelBuilder model = images();
  model.input("c", kBool, {});
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", branch()), graph_attribute("else_branch", branch())});
  return model;
}

TEST(IntegerPlan, ValuesOfBranchesHaveRangesOfTheirOwn) {
  const calibration::Ranges ranges = seen({{"x", kSigned},
                                           {"y", kSigned},
                                           {"y/then_branch/h", kSigned},
                                           {"y/then_branch/z", kSigned},
                                           {"y/else_branch/h", Seen{{0, 5.1F}}}});
  EXPECT_EQ(integer_text(branches(), ranges),
            "node 1:0 static -> h, codes\n"
            "node 1:1 static -> z, codes\n"
            "node 2:0 static -> h, codes\n"
            "node 2:1 float: no range of 'z' was observed\n"
            "value 0:x uint8 scale 0.01 zero 100\n"
            "value 1:h uint8 scale 0.01 zero 100\n"
            "value 1:z uint8 scale 0.01 zero 100\n"
            "value 2:h uint8 scale 0.02 zero 0\n");
}

// Values in functions are not observed; a value outside with the same name is unrelated.
TEST(IntegerPlan, ValuesOfFunctionsAreNotThoseOfTheGraph) {
  const std::string weight = test::node(
      "Constant", {}, {"w"}, {tensor_attribute("value", float_tensor("", {4, 4, 1, 1}, ramp({4, 4, 1, 1})))});
  const std::string function =
      field(1, std::string("f")) + field(4, std::string("x")) + field(5, std::string("y")) +
      field(7, weight) + field(7, test::node("Conv", {"x", "w"}, {"y"})) +
      field(9, field(1, std::string()) + field(2, std::int64_t{17})) + field(10, std::string("local"));
  ModelBuilder model = images();
  model.add_to_model(25, function);
  model.add_to_model(8, field(1, std::string("local")) + field(2, std::int64_t{1}));
  model.node("Exp", {"x"}, {"e"}).add(1, test::node("f", {"e"}, {"y"}, {}, {}, "local"));
  EXPECT_THAT(integer_text(model, ranges_of({"x", "y"})), StartsWith("node 1:1 float: "));
  EXPECT_THAT(dynamic_text(model), HasSubstr("ConvInteger"));
}

Recipe integer_io() {
  Recipe recipe = static_recipe();
  recipe.integer.integer_io = true;
  return recipe;
}

TEST(IntegerPlan, InputsAndOutputsMayBeCodes) {
  ModelBuilder model = rows();
  add_gemm(model, "x", "y");
  EXPECT_EQ(integer_text(model, ranges_of({"x", "y"}), integer_io()),
            "node 0:0 static -> y, codes\n"
            "input x uint8 scale 0.01 zero 100\n"
            "output y uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n"
            "value 0:y uint8 scale 0.01 zero 100\n");
  EXPECT_EQ(integer_text(model, ranges_of({"x"}), integer_io()),
            "node 0:0 static -> y\n"
            "input x uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n");
  model.node("Exp", {"x"}, {"e"}).output("e", kFloat, {2, 4});  // x is also needed in FP32
  EXPECT_THAT(integer_text(model, ranges_of({"x", "y"}), integer_io()), Not(HasSubstr("input x")));
}

TEST(IntegerPlan, AMatMulHasNoCodesToGiveAway) {
  ModelBuilder model = rows();
  model.initializer("w", {4, 4}, ramp({4, 4})).node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(integer_text(model, ranges_of({"x", "y"}), integer_io()),
            "node 0:0 static -> y\n"
            "input x uint8 scale 0.01 zero 100\n"
            "value 0:x uint8 scale 0.01 zero 100\n");
}

const IntegerPort* port_of(const IntegerPlan& plan, onnx::Bytes name) {
  for (const IntegerPort& port : plan.ports) {
    if (port.value == ValueKey{0, name}) return &port;
  }
  return nullptr;
}

ModelBuilder one_conv() {
  ModelBuilder model = images();
  add_conv(model, "x", "y");
  return model;
}

TEST(IntegerPlan, RawBytesAreCodesWhereOneScaleAndAWholeZeroSayItAll) {
  Recipe recipe = integer_io();
  recipe.integer.raw_inputs["x"] = {{0.02}, {-1}};
  const calibration::Ranges ranges = ranges_of({"x", "y"});
  const Planned planned(one_conv(), recipe, &ranges);
  EXPECT_THAT(planned.plan.integer.text(), HasSubstr("input x uint8, raw scale 0.02 zero 50\n"));
  EXPECT_THAT(planned.plan.integer.text(), HasSubstr("value 0:x uint8 scale 0.02 zero 50\n"));
  EXPECT_TRUE(port_of(planned.plan.integer, "x")->is_activation);
  EXPECT_EQ(port_of(planned.plan.integer, "a"), nullptr);
}

TEST(IntegerPlan, RawBytesBecomeFloatsFirstWhereTheyAreNoCodes) {
  const calibration::Ranges ranges = seen({{"x", Seen{{-1, 0, 0, 1.55F}, 4, 1}}, {"y", kSigned}});
  const auto port_for = [&](const RawInput& raw, ActivationType type = ActivationType::kU8) {
    Recipe recipe = integer_io();
    recipe.integer.activations = type;
    recipe.integer.raw_inputs["x"] = raw;
    return *port_of(Planned(one_conv(), recipe, &ranges).plan.integer, "x");
  };
  const IntegerPort channels = port_for({{0.02, 0.02, 0.02, 0.04}, {-1, -1, -2, -1}});
  EXPECT_TRUE(channels.is_raw);
  EXPECT_FALSE(channels.is_activation);
  EXPECT_THAT(channels.scales, ElementsAre(0.02F, 0.02F, 0.02F, 0.04F));
  EXPECT_THAT(channels.zeros, ElementsAre(50, 50, 100, 25));
  const IntegerPort broken_zero = port_for({{0.02}, {-1.01}});
  EXPECT_TRUE(broken_zero.is_raw);
  EXPECT_FALSE(broken_zero.is_activation);
  const IntegerPort backwards = port_for({{-0.02}, {4}});
  EXPECT_TRUE(backwards.is_raw);
  EXPECT_FALSE(backwards.is_activation);
  const IntegerPort is_signed = port_for({{0.02}, {-1}}, ActivationType::kS8);
  EXPECT_TRUE(is_signed.is_raw);
  EXPECT_FALSE(is_signed.is_activation);
  EXPECT_EQ(is_signed.type, ElementType::kUint8);
}

TEST(IntegerPlan, ValuesThatAreNoBytesAreNotTakenForThem) {
  const calibration::Ranges ranges = seen({{"x", Seen{{-1, 0, 0, 1.55F}, 4, 1}}, {"y", kSigned}});
  const std::vector<RawInput> others = {
      {{0.001}, {-1}},           // the data goes beyond byte 255
      {{0.02}, {0}},             // the data goes below byte 0
      {{0.02, 0.02}, {-1, -1}},  // other channels
  };
  for (const RawInput& raw : others) {
    Recipe recipe = integer_io();
    recipe.integer.raw_inputs["x"] = raw;
    EXPECT_THAT(integer_text(one_conv(), ranges, recipe), HasSubstr("input x uint8 scale 0.01 zero 100\n"));
  }
}

TEST(IntegerPlan, DynamicTakesMatMulsAndLeavesTheRest) {
  ModelBuilder model = rows();
  model.initializer("w", {4, 4}, ramp({4, 4})).initializer("v", {4, 4}, ramp({4, 4}));
  model.node("MatMul", {"x", "w"}, {"a"}).node("Gemm", {"a", "v"}, {"b"});
  model.node("MatMul", {"b", "b"}, {"y"});
  EXPECT_EQ(Planned(model, dynamic_recipe()).plan.text(),
            "w float32[4,4] -> int8 channel 1 kernel pairs: weight of an integer MatMul\n"
            "v float32[4,4] -> keep: smaller than 1024 bytes\n"
            "node 0:0 dynamic -> a\n"
            "node 0:1 float: Gemm has no dynamic kernel\n"
            "node 0:2 float: its weight is not constant\n");
}

TEST(IntegerPlan, DynamicConvIsOnlyForThoseWhoAsk) {
  ModelBuilder model = images();
  model.initializer("b", {4}, {1, 2, 3, 4});
  add_conv(model, "x", "y", "b");
  EXPECT_EQ(dynamic_text(model),
            "node 0:0 float: ConvInteger is several times slower than FP32 (`integer.dynamic_conv`)\n");
  Recipe recipe = dynamic_recipe();
  recipe.integer.dynamic_conv = true;
  const Planned planned(model, recipe);
  EXPECT_EQ(planned.plan.text(),
            "b float32[4] -> keep: smaller than 1024 bytes\n"
            "wy float32[4,4,1,1] -> int8 channel 0 kernel: weight of an integer Conv\n"
            "node 0:0 dynamic -> y\n");
  EXPECT_EQ(planned.decision("wy").format.sign, kernels::CodeSign::kUnsigned);  // needed by older runtimes
}

ModelBuilder lstm(const Strings& outputs) {
  ModelBuilder model;
  model.input("x", kFloat, {3, 1, 4}).output("y", kFloat, {3, 1, 1, 2});
  model.initializer("w", {1, 8, 4}, ramp({1, 8, 4})).initializer("r", {1, 8, 2}, ramp({1, 8, 2}));
  model.node("LSTM", {"x", "w", "r"}, outputs, {int_attribute("hidden_size", 2)});
  return model;
}

TEST(IntegerPlan, DynamicTakesLstms) {
  EXPECT_EQ(Planned(lstm({"y"}), dynamic_recipe()).plan.text(),
            "w float32[1,8,4] -> int8 channel 0-1 kernel pairs: weight of an integer LSTM\n"
            "r float32[1,8,2] -> int8 channel 0-1 kernel pairs: weight of an integer LSTM\n"
            "node 0:0 dynamic -> y\n");
  Recipe recipe = dynamic_recipe();
  recipe.exclude = {"^r$"};
  EXPECT_EQ(dynamic_text(lstm({"y"}), recipe), "node 0:0 float: excluded by '^r$'\n");
}

TEST(IntegerPlan, AnLstmThatGivesNothingIsLeftAlone) {
  ModelBuilder model = lstm({});
  model.node("Identity", {"x"}, {"y"});
  EXPECT_THAT(dynamic_text(model), StartsWith("node 0:0 float: "));
}

TEST(IntegerPlan, DynamicTakesFusedAttention) {
  ModelBuilder model;
  model.add_to_model(8, field(1, std::string("com.microsoft")) + field(2, std::int64_t{1}));
  model.input("x", kFloat, {1, 3, 4}).output("y", kFloat, {1, 3, 4});
  model.initializer("w", {4, 12}, ramp({4, 12})).initializer("b", {12}, ramp({12}));
  model.add(1, test::node("Attention", {"x", "w", "b"}, {"y"}, {int_attribute("num_heads", 2)}, {},
                          "com.microsoft"));
  EXPECT_EQ(Planned(model, dynamic_recipe()).plan.text(),
            "w float32[4,12] -> int8 channel 1 kernel pairs: weight of an integer Attention\n"
            "b float32[12] -> keep: smaller than 1024 bytes\n"
            "node 0:0 dynamic -> y\n");
}

// --- Quantization parameters ---

constexpr ActivationType kTypes[] = {ActivationType::kU8, ActivationType::kS8, ActivationType::kU16,
                                     ActivationType::kS16};

double code_of(const ActivationQuantization& quantization, double value) {
  const CodeLimits limits = limits_of(quantization.type);
  return std::clamp<double>(std::nearbyint(value / quantization.scale) + quantization.zero, limits.low,
                            limits.high);
}
double decoded(const ActivationQuantization& quantization, double code) {
  return (code - quantization.zero) * quantization.scale;
}

void expect_sound(const ValueRange& range, ActivationType type, bool is_symmetric) {
  const ActivationQuantization quantization = make_quantization(range, type, is_symmetric);
  const CodeLimits limits = limits_of(quantization.type);
  EXPECT_TRUE(std::isnormal(quantization.scale)) << quantization.scale;
  EXPECT_GT(quantization.scale, 0);
  EXPECT_GE(quantization.zero, limits.low);
  EXPECT_LE(quantization.zero, limits.high);
  EXPECT_EQ(decoded(quantization, code_of(quantization, 0)), 0);
  // Values in the range are exact to one step. (A scale is a float: the rounding of 65535 steps adds up.)
  const double step = quantization.scale * 1.01;
  for (const double value : {std::min(range.low, 0.0), std::max(range.high, 0.0)})
    EXPECT_NEAR(decoded(quantization, code_of(quantization, value)), value, step)
        << range.low << " … " << range.high;
}

TEST(ActivationQuantization, ZeroIsExactAndTheEndsAreWithinAStep) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-36, 36), share(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    const double width = std::pow(10.0, exponent(random));
    double low = width * share(random), high = width * share(random);
    if (low > high) std::swap(low, high);
    for (const ActivationType type : kTypes) {
      expect_sound({low, high}, type, false);
      expect_sound({low, high}, type, true);
    }
  }
}

TEST(ActivationQuantization, ARangeOfNothingAndOfNextToNothingIsHarmless) {
  for (const ActivationType type : kTypes) {
    for (const bool is_symmetric : {false, true}) {
      expect_sound({0, 0}, type, is_symmetric);
      expect_sound({0, 1e-45}, type, is_symmetric);
      expect_sound({-1e-42, 1e-40}, type, is_symmetric);
      expect_sound({-1e-40, 0}, type, is_symmetric);
      const double huge = std::numeric_limits<float>::max();
      expect_sound({-huge, huge}, type, is_symmetric);
      expect_sound({0, huge}, type, is_symmetric);
    }
  }
  EXPECT_EQ(make_quantization({0, 0}, ActivationType::kU8, false).scale, 1);
}

TEST(ActivationQuantization, OneSidedRangesUseAllCodes) {
  const ActivationQuantization above = make_quantization({1, 2.55}, ActivationType::kS8, true);
  EXPECT_FLOAT_EQ(above.scale, 0.01F);
  EXPECT_EQ(above.zero, -128);
  const ActivationQuantization below = make_quantization({-2.55, -1}, ActivationType::kU8, true);
  EXPECT_FLOAT_EQ(below.scale, 0.01F);
  EXPECT_EQ(below.zero, 255);
}

TEST(ActivationQuantization, SymmetricMeansThatZeroIsInTheMiddle) {
  const auto zero_of = [](ActivationType type) { return make_quantization({-1, 3}, type, true).zero; };
  EXPECT_EQ(zero_of(ActivationType::kU8), 128);
  EXPECT_EQ(zero_of(ActivationType::kS8), 0);
  EXPECT_EQ(zero_of(ActivationType::kU16), 32768);
  EXPECT_EQ(zero_of(ActivationType::kS16), 0);
  EXPECT_FLOAT_EQ(make_quantization({-1.27, 0.5}, ActivationType::kS8, true).scale, 0.01F);
  EXPECT_FLOAT_EQ(make_quantization({-327.67, 0.5}, ActivationType::kU16, true).scale, 0.01F);
}

// --- Weights and biases ---

// y = Conv(x, w, b) with one weight per channel; x has the scale 0.01.
Planned with_bias(const std::vector<float>& weights, const std::vector<float>& bias,
                  const Recipe& recipe = static_recipe()) {
  const auto channels = static_cast<std::int64_t>(weights.size());
  ModelBuilder model;
  model.input("x", kFloat, {1, 1, 8}).output("y", kFloat, {1, channels, 8});
  model.initializer("w", {channels, 1, 1}, weights).initializer("b", {channels}, bias);
  model.node("Conv", {"x", "w", "b"}, {"y"});
  const calibration::Ranges ranges = ranges_of({"x", "y"});
  return Planned(model, recipe, &ranges);
}

double largest_code(const Planned& planned, const std::vector<float>& bias) {
  const auto& affine = planned.decision("b").affine;
  double largest = 0;
  for (std::size_t c = 0; c < bias.size(); ++c)
    largest = std::max(largest, std::abs(double{bias[c]}) / affine[affine.size() == 1 ? 0 : c].scale);
  return largest;
}

TEST(IntegerWeights, ABiasIsCodedInTheUnitsOfTheSum) {
  const Planned planned = with_bias({1.27F, -2.54F}, {1, 2});
  const auto& weight = planned.decision("w").affine;
  const auto& bias = planned.decision("b").affine;
  ASSERT_EQ(bias.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(weight[c].scale, 0.01 * static_cast<double>(c + 1), 1e-5);
    EXPECT_FLOAT_EQ(bias[c].scale, weight[c].scale * 0.01F);
    EXPECT_EQ(bias[c].zero, 0);
  }
}

TEST(IntegerWeights, TinyWeightsMakeRoomForTheirBias) {
  const std::vector<float> bias = {3, -3, 3};
  const Planned planned = with_bias({1.27e-12F, 1.27e-9F, 1.27F}, bias);
  EXPECT_LE(largest_code(planned, bias), kLargestBias * 1.0001);
  const auto& weight = planned.decision("w").affine;
  EXPECT_NEAR(weight[0].scale, 3 / 0.01 / kLargestBias, 1e-9);
  EXPECT_NEAR(weight[2].scale, 0.01, 1e-4);  // this one need not change
  EXPECT_FLOAT_EQ(planned.decision("b").affine[0].scale, weight[0].scale * 0.01F);
}

TEST(IntegerWeights, AChannelWithoutWeightsTellsItsBiasFinely) {
  const std::vector<float> bias = {1e-3F, 5, 0};
  const Planned planned = with_bias({0, 1, 0}, bias);
  const double code = bias[0] / planned.decision("b").affine[0].scale;
  EXPECT_GT(code, 1 << 19);
  EXPECT_LE(code, kLargestBias);
  for (const auto& affine : planned.decision("w").affine) EXPECT_TRUE(std::isnormal(affine.scale));
}

TEST(IntegerWeights, OneScaleForAllHasRoomForTheLargestBias) {
  Recipe recipe = static_recipe();
  recipe.granularity.kind = GranularityKind::kTensor;
  const std::vector<float> bias = {1, -500, 2};
  const Planned planned = with_bias({1e-9F, 2e-9F, 0}, bias, recipe);
  ASSERT_EQ(planned.decision("w").affine.size(), 1U);
  ASSERT_EQ(planned.decision("b").affine.size(), 1U);
  EXPECT_LE(largest_code(planned, bias), kLargestBias * 1.0001);
  const Planned without_weights = with_bias({0, 0, 0}, bias, recipe);
  EXPECT_LE(largest_code(without_weights, bias), kLargestBias * 1.0001);
}

// y = MatMul(x, w), `inputs` × 512. The weights of the first column are `first` times as large as the others.
Planned with_product(const Dims& x, std::int64_t inputs, float first, const Recipe& recipe = dynamic_recipe()) {
  std::vector<float> weights;
  for (std::int64_t i = 0; i < inputs * 512; ++i)
    weights.push_back((i % 512 == 0 ? first : 1) * std::sin(static_cast<float>(i)));
  ModelBuilder model;
  model.input("x", kFloat, x).output("y", kFloat, {1, 512}).initializer("w", {inputs, 512}, weights);
  model.node("MatMul", {"x", "w"}, {"y"});
  return Planned(model, recipe);
}

TEST(IntegerWeights, SingleRowsGetOneScaleWhereItIsFaster) {
  const Planned planned = with_product({1, 64}, 64, 1);
  const Decision& weight = planned.decision("w");
  EXPECT_EQ(weight.granularity, GranularityKind::kTensor);
  EXPECT_EQ(weight.affine.size(), 1U);
  EXPECT_FALSE(weight.format.half_scales);
  EXPECT_THAT(weight.reason, HasSubstr("faster for single rows"));
}

TEST(IntegerWeights, OtherProductsKeepAScalePerChannel) {
  const auto granularity = [](const Planned& planned) { return planned.decision("w").granularity; };
  // The factors are a small share of the time of a layer with many inputs.
  EXPECT_EQ(granularity(with_product({1, 2048}, 2048, 1)), GranularityKind::kChannel);
  // One column is much larger than the others, which would lose accuracy.
  EXPECT_EQ(granularity(with_product({1, 64}, 64, 20)), GranularityKind::kChannel);
  // Several rows share the cost of the factors.
  EXPECT_EQ(granularity(with_product({1, 16, 64}, 64, 1)), GranularityKind::kChannel);
  Recipe recipe = dynamic_recipe();
  recipe.granularity.kind = GranularityKind::kChannel;
  EXPECT_EQ(granularity(with_product({1, 64}, 64, 1, recipe)), GranularityKind::kChannel);
}

// The channel has no weights, so its scale is free: it must fit the larger bias, in any order.
TEST(IntegerWeights, AWeightWithSeveralBiasesHasRoomForEach) {
  for (const auto& [first, second] : {std::pair{100.0F, 0.001F}, std::pair{0.001F, 100.0F}}) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 2, 8}).output("y", kFloat, {1, 2, 8});
    model.initializer("w", {2, 2, 1}, {0, 0, 1, 1});
    model.initializer("b1", {2}, {first, 0}).initializer("b2", {2}, {second, 0});
    model.node("Conv", {"x", "w", "b1"}, {"a"}).node("Conv", {"a", "w", "b2"}, {"y"});
    const calibration::Ranges ranges = ranges_of({"x", "a", "y"});
    const Planned planned(model, static_recipe(), &ranges);
    EXPECT_LE(first / planned.decision("b1").affine[0].scale, kLargestBias * 1.0001);
    EXPECT_LE(second / planned.decision("b2").affine[0].scale, kLargestBias * 1.0001);
  }
}

TEST(IntegerWeights, ABiasThatIsNotFiniteIsNotCoded) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    try {
      const Planned planned = with_bias({1, 2}, {0, bad});
      EXPECT_FALSE(planned.decision("b").is_stored());
      EXPECT_THAT(planned.decision("b").affine, IsEmpty());
      EXPECT_THAT(planned.plan.integer.biases, IsEmpty());  // no integer op uses it
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    }
  }
}

TEST(IntegerWeights, AMatrixMayHaveVeryManyColumns) {
  constexpr std::int64_t kColumns = (1 << 18) + 1;
  ModelBuilder model;
  model.input("x", kFloat, {1, 1}).output("y", kFloat, {1, kColumns});
  model.initializer("w", {1, kColumns}, ramp({1, kColumns})).node("MatMul", {"x", "w"}, {"y"});
  Recipe recipe = dynamic_recipe();
  recipe.scale = ScaleMethod::kAbsMax;
  const Planned planned(model, recipe);
  ASSERT_EQ(planned.decision("w").affine.size(), static_cast<std::size_t>(kColumns));
  EXPECT_FLOAT_EQ(planned.decision("w").affine[1].scale, std::abs(ramp({1, kColumns})[1]) / 127);
}

TEST(IntegerWeights, SevenBitsLeaveRoomForSumsOfTwo) {
  Recipe recipe = static_recipe();
  recipe.integer.reduce_range = true;
  recipe.scale = ScaleMethod::kAbsMax;
  const Planned planned = with_bias({0.64F, 1.28F}, {0, 0}, recipe);
  EXPECT_NEAR(planned.decision("w").affine[0].scale, 0.01, 1e-6);
  EXPECT_NEAR(planned.decision("w").affine[1].scale, 0.02, 1e-6);
}

// Weights of 127 and 0.4 at a scale of 1: the second is rounded to 0, and the lost contribution is known
// exactly for constant inputs.
TEST(BiasCorrection, IsExactForConstantInputs) {
  for (const std::string op : {"Conv", "Gemm", "Gemm, transposed"}) {
    ModelBuilder model;
    const bool is_conv = op == "Conv";
    model.input("x", kFloat, is_conv ? Dims{1, 3, 1} : Dims{1, 3});
    model.output("y", kFloat, is_conv ? Dims{1, 2, 1} : Dims{1, 2});
    const std::vector<float> by_output = {127, 0.4F, 3.25F, 254, 0.5F, 1},
                             by_input = {127, 254, 0.4F, 0.5F, 3.25F, 1};
    const bool is_first = op != "Gemm";
    model.initializer("w",
                      is_conv    ? Dims{2, 3, 1}
                      : is_first ? Dims{2, 3}
                                 : Dims{3, 2},
                      is_first ? by_output : by_input);
    model.initializer("b", {2}, {0.125F, 7});
    model.node(is_conv ? "Conv" : "Gemm", {"x", "w", "b"}, {"y"},
               op == "Gemm, transposed" ? Strings{int_attribute("transB", 1)} : Strings{});
    const calibration::Ranges ranges = seen({{"x", Seen{{1, 2, -4}, 3, 1}}, {"y", Seen{{0, 500}}}});
    Recipe recipe = static_recipe();
    recipe.scale = ScaleMethod::kAbsMax;
    recipe.rounding = Rounding::kNearest;
    recipe.integer.correct_bias = true;
    recipe.integer.reduce_range = false;  // integer scales
    const Planned planned(model, recipe, &ranges);
    // 0.4·2 + 0.25·(-4); for the other, at a scale of 2: 0.5·2 + (1 - rounded)·(-4), rounded to even
    ASSERT_EQ(planned.decision("b").shift.size(), 2U) << op;
    EXPECT_NEAR(planned.decision("b").shift[0], 0.8 - 1, 1e-4) << op;
    const double rounded = 2 * std::nearbyint(0.5);
    EXPECT_NEAR(planned.decision("b").shift[1], 1 - 4 * (1 - rounded), 1e-4) << op;
    EXPECT_THAT(planned.plan.text(), HasSubstr("b float32[2] -> int32 channel 0 dq corrected "));
  }
}

TEST(BiasCorrection, KnowsTheGroupsOfAConv) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 1}).output("y", kFloat, {1, 2, 1});
  model.initializer("w", {2, 1, 2}, {127, 0.25F, 127, 0.25F}).initializer("b", {2}, {0, 0});
  model.node("Conv", {"x", "w", "b"}, {"y"}, {int_attribute("group", 2)});
  const calibration::Ranges ranges = seen({{"x", Seen{{1, 3}, 2, 1}}, {"y", Seen{{0, 500}}}});
  Recipe recipe = static_recipe();
  recipe.scale = ScaleMethod::kAbsMax;
  recipe.rounding = Rounding::kNearest;
  recipe.integer.correct_bias = true;
  const Planned planned(model, recipe, &ranges);
  EXPECT_THAT(planned.decision("b").shift,
              ElementsAre(testing::FloatNear(0.25F, 1e-4F), testing::FloatNear(0.75F, 1e-4F)));
}

TEST(BiasCorrection, NeedsToKnowTheChannels) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 1}).output("y", kFloat, {1, 1, 1});
  model.initializer("w", {1, 3, 1}, {127, 0.25F, 1}).initializer("b", {1}, {0});
  model.node("Conv", {"x", "w", "b"}, {"y"});
  const calibration::Ranges ranges = ranges_of({"x", "y"});
  Recipe recipe = static_recipe();
  recipe.integer.correct_bias = true;
  EXPECT_THAT(Planned(model, recipe, &ranges).decision("b").shift, IsEmpty());
}

// x ─ Conv ─ a ─ Mul(1/4) ─ m ─ Add(1/2) ─ s ─ Clip(0, 1) ─ r ─ Conv ─ y
ModelBuilder conv_numbers_conv() {
  ModelBuilder model = images();
  model.initializer("quarter", {}, {0.25F}).initializer("half", {}, {0.5F});
  model.initializer("zero", {}, {0}).initializer("one", {}, {1});
  add_conv(model, "x", "a");
  model.node("Mul", {"a", "quarter"}, {"m"}).node("Add", {"m", "half"}, {"s"});
  model.node("Clip", {"s", "zero", "one"}, {"r"});
  add_conv(model, "r", "y");
  return model;
}

TEST(IntegerPlan, AProductWithANumberIsTheSameCodesAndASumIsNot) {
  const std::string text = integer_text(conv_numbers_conv(), ranges_of({"x", "a", "m", "s", "r", "y"}));
  EXPECT_THAT(text, StartsWith("node 0:0 static -> a, codes\n"
                               "node 0:1 static -> m, the same codes\n"
                               "node 0:2 static -> r, codes, clamped by its codes\n"
                               "node 0:4 static -> y, codes\n"));
  EXPECT_THAT(text, HasSubstr("value 0:m uint8 scale 0.0025 zero 100\n"));
  EXPECT_THAT(text, HasSubstr("number 0:half uint8 scale 0.5 zero 0 code 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("number 0:quarter")));
}

TEST(IntegerPlan, ASigmoidThatIsReadAsATanhHasAWholeMiddle) {
  ModelBuilder model = images();
  model.initializer("two", {}, {2}).initializer("minus", {}, {-1});
  add_conv(model, "x", "a");
  model.node("Mul", {"a", "two"}, {"d"}).node("Sigmoid", {"d"}, {"g"});
  model.node("Mul", {"g", "two"}, {"e"}).node("Add", {"e", "minus"}, {"t"});
  add_conv(model, "t", "y");
  calibration::Ranges ranges = ranges_of({"x", "a", "d", "y", "t"});
  for (const char* name : {"g", "e"})
    ranges.values[name].add(std::vector<float>{0, name[0] == 'g' ? 1.0F : 2.0F}, 1, 1);
  const std::string text = integer_text(model, ranges);
  EXPECT_THAT(text, HasSubstr("node 0:4 static -> t, the same codes\n"));
  EXPECT_THAT(text, HasSubstr("value 0:g uint8 scale 0.003937008 zero 0\n"));    // 1/254
  EXPECT_THAT(text, HasSubstr("value 0:t uint8 scale 0.007874016 zero 127\n"));  // from -1 to 1
}

}  // namespace
}  // namespace ounce::plan
