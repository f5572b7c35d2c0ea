#include "formats/tflite/plan/integer_plan.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>
#include <limits>

#include "support/error_of.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

using ounce::test::error_of;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A model, and ranges of its values as if they had been observed.
struct TfliteIntegerPlan : testing::Test {
  TfliteIntegerPlan() {
    recipe.format = Format::kInt8;
    recipe.integer.calibration = CalibrationMethod::kMinMax;
    recipe.integer.correct_bias = false;
    recipe.integer.use_cost_model = false;
    ranges.samples = 1;
  }

  void see(const std::string& name, const std::vector<float>& values) { ranges.values[name].add(values); }
  void see(const std::string& name, float low, float high) { see(name, std::vector<float>{low, high}); }

  IntegerPlan plan() {
    prepared = std::make_unique<IntegerModel>(std::make_shared<const Model>(model.model), recipe, pool);
    return make_integer_plan(*prepared, ranges, recipe);
  }
  static const ActivationQuantization& codes(const IntegerPlan& plan, std::int32_t tensor) {
    return *plan.scales.codes[static_cast<std::size_t>(tensor)];
  }
  // x ─ FULLY_CONNECTED ─ y
  void make_dense(const std::vector<float>& weights, const std::vector<float>& bias) {
    const auto channels = static_cast<std::int32_t>(bias.size());
    const auto inputs = static_cast<std::int32_t>(weights.size() / bias.size());
    x = model.tensor("x", {1, inputs});
    y = model.tensor("y", {1, channels});
    const auto w = model.weights("w", {channels, inputs}, weights), b = model.weights("b", {channels}, bias);
    model.op(Builtin::kFullyConnected, {x, w, b}, {y}, "FullyConnectedOptions");
    model.inputs({x}).outputs({y});
    see("x", -1, 1);
    see("y", -2, 2);
  }

  TfliteBuilder model;
  calibration::Ranges ranges;
  Recipe recipe;
  ThreadPool pool{1};
  std::unique_ptr<IntegerModel> prepared;
  std::int32_t x = -1, y = -1;
};

TEST_F(TfliteIntegerPlan, GivesWeightsAScaleForEachChannelAndBiasesTheirProduct) {
  make_dense({1, 0.5, 0.25, -0.125}, {0.5, -0.5});
  recipe.scale = ScaleMethod::kAbsMax;
  const IntegerPlan found = plan();
  ASSERT_EQ(found.integer_count(), 1U);
  const OpWeights& weights = found.weights.at(0);
  ASSERT_EQ(weights.affine.size(), 2U);
  EXPECT_FLOAT_EQ(weights.affine[0].scale, 1.0F / 127);
  EXPECT_FLOAT_EQ(weights.affine[1].scale, 0.25F / 127);
  EXPECT_FLOAT_EQ(weights.bias_scale[1], weights.affine[1].scale * codes(found, x).scale);
  EXPECT_EQ(weights.raised, 0U);
  EXPECT_EQ(codes(found, x).type, ElementType::kInt8);
  EXPECT_FLOAT_EQ(codes(found, y).scale, 4.0F / 255);
}

TEST_F(TfliteIntegerPlan, RaisesTheScaleOfAChannelWhoseBiasWouldOverflow) {
  make_dense({1, 1e-12F, 1e-12F, 1e-12F}, {0, 1000});
  const IntegerPlan found = plan();
  const OpWeights& weights = found.weights.at(0);
  EXPECT_EQ(weights.raised, 1U);
  const std::vector<std::int64_t> bias = bias_codes(model.model, weights, false);
  EXPECT_NEAR(static_cast<double>(bias[1]) * weights.bias_scale[1], 1000, 0.1);
  EXPECT_LE(std::abs(bias[1]), std::int64_t{1} << 31);
}

TEST_F(TfliteIntegerPlan, GivesOneScaleToWhatOnlyMovesValues) {
  const auto a = model.tensor("a", {1, 8}), b = model.tensor("b", {1, 8}), c = model.tensor("c", {1, 16});
  const auto d = model.tensor("d", {1, 8});
  model.op(Builtin::kAdd, {a, a}, {b}, "AddOptions");
  model.op(Builtin::kMul, {a, a}, {d}, "MulOptions");
  model.op(Builtin::kConcatenation, {b, d}, {c}, "ConcatenationOptions");
  model.inputs({a}).outputs({c});
  see("a", -1, 1);
  see("b", -2, 2);
  see("d", 0, 1);
  see("c", -2, 2);
  const IntegerPlan found = plan();
  EXPECT_EQ(found.integer_count(), 3U);
  EXPECT_EQ(codes(found, b).scale, codes(found, c).scale);
  EXPECT_EQ(codes(found, d).scale, codes(found, c).scale);
  EXPECT_EQ(codes(found, d).zero, codes(found, c).zero);
  EXPECT_THAT(found.scales.requantized, IsEmpty());
}

TEST_F(TfliteIntegerPlan, RequantizesAValueThatOthersWantInFineSteps) {
  const auto a = model.tensor("a", {1, 8}), b = model.tensor("b", {1, 8}), c = model.tensor("c", {1, 16});
  const auto d = model.tensor("d", {1, 8}), e = model.tensor("e", {1, 8});
  model.op(Builtin::kAdd, {a, a}, {b}, "AddOptions");
  model.op(Builtin::kMul, {a, a}, {d}, "MulOptions");
  model.op(Builtin::kConcatenation, {b, d}, {c}, "ConcatenationOptions");
  model.op(Builtin::kMul, {d, d}, {e}, "MulOptions");
  model.inputs({a}).outputs({c, e});
  see("a", -1, 1);
  see("b", -20, 20);
  see("d", 0, 1);
  see("c", -20, 20);
  see("e", 0, 1);
  const IntegerPlan found = plan();
  EXPECT_EQ(codes(found, b).scale, codes(found, c).scale);
  EXPECT_FLOAT_EQ(codes(found, d).scale, 1.0F / 255);
  ASSERT_EQ(found.scales.requantized.size(), 1U);
  EXPECT_EQ(found.scales.requantized.begin()->second.scale, codes(found, c).scale);
}

TEST_F(TfliteIntegerPlan, KeepsFixedScalesAlsoBehindOperatorsThatMoveThem) {
  const auto a = model.tensor("a", {1, 8}), b = model.tensor("b", {1, 8}), c = model.tensor("c", {8, 1});
  const auto to = model.integers("to", {2}, {8, 1});
  model.op(Builtin::kLogistic, {a}, {b});
  model.op(Builtin::kReshape, {b, to}, {c}, "ReshapeOptions");
  model.inputs({a}).outputs({c});
  see("a", -5, 5);
  see("b", 0.1F, 0.9F);
  see("c", 0.1F, 0.9F);
  const IntegerPlan found = plan();
  for (const auto tensor : {b, c}) {
    EXPECT_EQ(codes(found, tensor).scale, 1.0F / 256);
    EXPECT_EQ(codes(found, tensor).zero, -128);
  }
}

TEST_F(TfliteIntegerPlan, LeavesRatiosOfScalesToFloatsThatXnnpackDoesNotTake) {
  const auto a = model.tensor("a", {1, 8}), b = model.tensor("b", {1, 8}), c = model.tensor("c", {1, 8});
  model.op(Builtin::kAdd, {a, b}, {c}, "AddOptions");
  model.inputs({a, b}).outputs({c});
  see("a", -1, 1);
  see("b", -1e-5F, 1e-5F);
  see("c", -1, 1);
  const IntegerPlan found = plan();
  EXPECT_EQ(found.integer_count(), 0U);
  EXPECT_THAT(found.ops[0].reason, HasSubstr("outside of"));
}

TEST_F(TfliteIntegerPlan, LeavesOperatorsWithoutSafeKernelsToFloats) {
  const auto a = model.tensor("a", {1, 8}), b = model.tensor("b", {1, 8}), c = model.tensor("c", {1, 8});
  model.op(Builtin::kDiv, {a, b}, {c}, "DivOptions");
  model.inputs({a, b}).outputs({c});
  for (const char* name : {"a", "b", "c"}) see(name, 1, 2);
  EXPECT_THAT(plan().ops[0].reason, HasSubstr("refuses some values"));
}

TEST_F(TfliteIntegerPlan, LeavesWhatIsSlowerOnIntegersToFloats) {
  const auto in = model.tensor("in", {1, 64, 64, 16}), out = model.tensor("out", {1, 64, 64, 16});
  model.op(Builtin::kHardSwish, {in}, {out});
  model.inputs({in}).outputs({out});
  see("in", -5, 5);
  see("out", -1, 5);
  EXPECT_EQ(plan().integer_count(), 1U);
  recipe.integer.use_cost_model = true;
  const IntegerPlan found = plan();
  EXPECT_EQ(found.integer_count(), 0U);
  EXPECT_EQ(found.ops[0].reason, "FP32 is faster here");
}

TEST_F(TfliteIntegerPlan, KeepsWhatTheRecipeNamesInFloats) {
  make_dense({1, 2}, {0});
  recipe.nodes["y"] = Format::kFp32;
  EXPECT_EQ(plan().ops[0].reason, "asked for as fp32");
  recipe.nodes = {{"z", Format::kFp32}};
  EXPECT_THAT(error_of([&] { plan(); }).what(), HasSubstr("'z'"));
}

TEST_F(TfliteIntegerPlan, SurvivesValuesThatAreNoNumbers) {
  make_dense({1, 2}, {0});
  see("y", {std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(plan().ops[0].reason, HasSubstr("NaN"));
}

TEST_F(TfliteIntegerPlan, SurvivesWeightsThatAreNoNumbers) {
  make_dense({1, std::numeric_limits<float>::infinity()}, {0});
  EXPECT_THAT(plan().ops[0].reason, HasSubstr("weight has NaN"));
}

TEST_F(TfliteIntegerPlan, GivesHarmlessScalesToEmptyAndHugeRanges) {
  make_dense({0, 0}, {0});
  ranges.values.clear();
  see("x", 0, 0);
  see("y", -3e38F, 3e38F);
  const IntegerPlan found = plan();
  for (const auto tensor : {x, y}) {
    if (!found.scales.codes[static_cast<std::size_t>(tensor)]) continue;
    EXPECT_TRUE(std::isfinite(codes(found, tensor).scale));
    EXPECT_GT(codes(found, tensor).scale, 0);
  }
}

TEST_F(TfliteIntegerPlan, CorrectsTheMeanErrorOfEachChannel) {
  make_dense({1, 0.4999F, 0.3333F, -0.777F}, {0.5, -0.5});
  ranges.values.clear();
  std::vector<float> seen = {1, 1, 1, 1};
  ranges.values["x"].add(seen, 2, 1);
  see("y", -2, 2);
  recipe.integer.correct_bias = true;
  recipe.rounding = Rounding::kNearest;
  const IntegerPlan found = plan();
  const OpWeights& weights = found.weights.at(0);
  ASSERT_EQ(weights.shift.size(), 2U);
  const auto coded = prepared->weights().codes(weights.weight, weights.affine);
  const float given = 0.3333F - 0.777F;
  const float decoded = weights.affine[1].scale * static_cast<float>(static_cast<std::int8_t>((*coded)[2]) +
                                                                     static_cast<std::int8_t>((*coded)[3]));
  EXPECT_NEAR(weights.shift[1], given - decoded, 1e-6);
}

TEST_F(TfliteIntegerPlan, OffersAssignmentsFromTheFastestToAllFloats) {
  const auto in = model.tensor("in", {1, 32, 32, 16}), out = model.tensor("out", {1, 32, 32, 16});
  const auto between = model.tensor("between", {1, 32, 32, 16});
  const std::vector<float> kernel(16 * 16 * 9, 0.01F);
  const auto w = model.weights("w", {16, 3, 3, 16}, kernel), v = model.weights("v", {16, 3, 3, 16}, kernel);
  model.op(Builtin::kConv2D, {in, w, -1}, {between}, "Conv2DOptions");
  model.options().set("stride_w", std::int64_t{1});
  model.options().set("stride_h", std::int64_t{1});
  model.op(Builtin::kConv2D, {between, v, -1}, {out}, "Conv2DOptions");
  model.options().set("stride_w", std::int64_t{1});
  model.options().set("stride_h", std::int64_t{1});
  model.inputs({in}).outputs({out});
  for (const char* name : {"in", "between", "out"}) see(name, -1, 1);
  recipe.integer.use_cost_model = true;
  EXPECT_EQ(plan().integer_count(), 2U);
  const auto choices = float_choices(*prepared, ranges, recipe, {{"between", 0.1}, {"out", 0.001}});
  ASSERT_GE(choices.size(), 2U);
  EXPECT_EQ(choices.front().is_float, (std::vector<bool>{false, false}));
  EXPECT_EQ(choices.back().is_float, (std::vector<bool>{true, true}));
  for (std::size_t i = 1; i < choices.size(); ++i) EXPECT_GE(choices[i].time, choices[i - 1].time);
}

// x ─ CONV_2D ─ a ─ LOGISTIC ─ b ─ MUL(a, b) ─ c ─ CONV_2D ─ y
TEST_F(TfliteIntegerPlan, CountsTheProductOfAValueAndItsLogisticAsOneLookup) {
  const TfliteBuilder::Shape shape = {1, 64, 64, 16};
  const auto a = model.tensor("a", shape), b = model.tensor("b", shape), c = model.tensor("c", shape);
  x = model.tensor("x", shape);
  y = model.tensor("y", shape);
  const std::vector<float> kernel(16 * 16 * 9, 0.01F);
  const auto w = model.weights("w", {16, 3, 3, 16}, kernel), v = model.weights("v", {16, 3, 3, 16}, kernel);
  const auto add_conv = [&](std::int32_t from, std::int32_t weight, std::int32_t to) {
    model.op(Builtin::kConv2D, {from, weight, -1}, {to}, "Conv2DOptions");
    model.options().set("stride_w", std::int64_t{1});
    model.options().set("stride_h", std::int64_t{1});
  };
  add_conv(x, w, a);
  model.op(Builtin::kLogistic, {a}, {b});
  model.op(Builtin::kMul, {a, b}, {c}, "MulOptions");
  add_conv(c, v, y);
  model.inputs({x}).outputs({y});
  const std::vector<float> negative(64 * 64 * 8, -1), positive(64 * 64 * 8, 1);
  for (const char* name : {"x", "a", "b", "c", "y"}) {
    see(name, negative);
    see(name, positive);
  }
  recipe.integer.use_cost_model = true;
  EXPECT_EQ(plan().integer_count(), 4U);
  // In FP32, the LOGISTIC leaves the product to a kernel of its own, which is slower than FP32.
  recipe.nodes["b"] = Format::kW8;
  const IntegerPlan found = plan();
  EXPECT_FALSE(found.ops[2].is_integer());
}

}  // namespace
}  // namespace ounce::tflite
