#include "formats/onnx/plan/integer_costs.h"

#include <gmock/gmock.h>

#include <map>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::plan {
namespace {

using test::Dims;
using test::GraphBuilder;
using test::int_attribute;
using test::ints_attribute;
using test::kFloat;
using test::ModelBuilder;
using test::ramp;
using test::Strings;
using testing::HasSubstr;
using testing::StartsWith;

Recipe recipe_for(const std::string& target = {}) {
  Recipe recipe;
  recipe.format = Format::kInt8;
  recipe.fp16_budget = 0;
  recipe.integer.calibration = CalibrationMethod::kMinMax;
  recipe.integer.correct_bias = false;
  recipe.target = target;
  return recipe;
}

// Values of one sample, by name, with their numbers of channels and positions.
calibration::Ranges seen(const std::map<std::string, std::pair<int, int>>& values) {
  calibration::Ranges ranges;
  for (const auto& [name, size] : values) {
    const auto [channels, positions] = size;
    ranges.values[name].add(ramp({channels, positions}), static_cast<std::size_t>(channels),
                            static_cast<std::size_t>(positions));
  }
  ranges.samples = 1;
  return ranges;
}

// The lines of nodes.
std::string plan_of(const GraphBuilder& builder, const calibration::Ranges& ranges,
                    const Recipe& recipe = recipe_for()) {
  const std::string bytes = builder.bytes();
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(model);
  ThreadPool pool(2);
  const std::string text = make_plan(model, index, recipe, pool, &ranges).integer.text();
  return text.substr(0, text.find("value "));
}

void add_conv(GraphBuilder& model, const std::string& x, const std::string& y, const Dims& dims,
              int group = 1) {
  model.initializer("w" + y, dims, ramp(dims));
  const auto pad = (dims[2] - 1) / 2;
  model.node("Conv", {x, "w" + y}, {y},
             {int_attribute("group", group), ints_attribute("pads", {pad, pad, pad, pad})});
}

// x ─ Conv with 3 inputs ─ a ─ depthwise Conv ─ b ─ Conv ─ y ─ Conv ─ z
ModelBuilder beginning() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 112, 112}).output("z", kFloat, {1, 64, 112, 112});
  add_conv(model, "x", "a", {20, 3, 3, 3});
  add_conv(model, "a", "b", {20, 1, 3, 3}, 20);
  add_conv(model, "b", "y", {64, 20, 1, 1});
  add_conv(model, "y", "z", {64, 64, 3, 3});
  return model;
}
calibration::Ranges values_of_beginning() {
  constexpr int kPositions = 112 * 112;
  return seen({{"x", {3, kPositions}},
               {"a", {20, kPositions}},
               {"b", {20, kPositions}},
               {"y", {64, kPositions}},
               {"z", {64, kPositions}}});
}

TEST(IntegerCosts, WhatIsSlowerOnIntegersStaysInFloatsWhereFloatsComeIn) {
  EXPECT_EQ(plan_of(beginning(), values_of_beginning()),
            "node 0:0 float: is faster in FP32\n"
            "node 0:1 float: is faster in FP32\n"
            "node 0:2 static -> y, codes\n"
            "node 0:3 static -> z, codes\n");
}

// x ─ depthwise Conv ─ a ─ LeakyRelu ─ l ─ Conv ─ b ─ Add(l) ─ s ─ Conv ─ y: the FP32 output of the first two
// is quantized for the Add, whose other input is quantized.
TEST(IntegerCosts, AJoinTakesCodesThatAreMadeOfFloats) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 20, 112, 112}).output("y", kFloat, {1, 20, 112, 112});
  add_conv(model, "x", "a", {20, 1, 3, 3}, 20);
  model.node("LeakyRelu", {"a"}, {"l"});
  add_conv(model, "l", "b", {20, 20, 5, 5});
  model.node("Add", {"b", "l"}, {"s"});
  add_conv(model, "s", "y", {20, 20, 5, 5});
  std::map<std::string, std::pair<int, int>> sizes;
  for (const char* name : {"x", "a", "l", "b", "s", "y"}) sizes.emplace(name, std::pair(20, 112 * 112));
  EXPECT_EQ(plan_of(model, seen(sizes)),
            "node 0:0 float: is faster in FP32\n"
            "node 0:2 static -> b, codes\n"
            "node 0:3 static -> s, codes\n"
            "node 0:4 static -> y, codes\n");
}

// One weight for a large and a small image: both run in INT8, although the small one would be faster in FP32.
TEST(IntegerCosts, NodesOfOneWeightStayTogether) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 32, 80, 80}).input("s", kFloat, {1, 32, 2, 2});
  model.output("y", kFloat, {1, 32, 80, 80})
      .output("z", kFloat, {1, 32, 2, 2})
      .output("c", kFloat, {1, 20, 112, 112});
  model.input("p", kFloat, {1, 3, 112, 112});
  add_conv(model, "p", "c", {20, 3, 3, 3});  // something that is faster in FP32
  model.initializer("w", {32, 32, 1, 1}, ramp({32, 32, 1, 1}));
  model.node("Conv", {"x", "w"}, {"y"}).node("Conv", {"s", "w"}, {"z"});
  EXPECT_EQ(plan_of(model, seen({{"x", {32, 6400}},
                                 {"y", {32, 6400}},
                                 {"s", {32, 4}},
                                 {"z", {32, 4}},
                                 {"p", {3, 112 * 112}},
                                 {"c", {20, 112 * 112}}})),
            "node 0:0 float: is faster in FP32\n"
            "node 0:1 static -> y, codes\n"
            "node 0:2 static -> z, codes\n");
}

TEST(IntegerCosts, AreNotWeighedWhereNobodyWantsItOrTheyAreOfOtherCpus) {
  Recipe all = recipe_for(), ports = recipe_for();
  all.integer.use_cost_model = false;
  ports.integer.integer_io = true;
  for (const Recipe& recipe : {all, recipe_for("linux-arm64@1.22.0"), ports})
    EXPECT_THAT(plan_of(beginning(), values_of_beginning(), recipe),
                StartsWith("node 0:0 static -> a, codes\n"));
}

// x ─ Conv ─ a ─ depthwise Conv ─ b ─ Conv ─ y: slower in INT8, but not by as much as the conversions cost.
TEST(IntegerCosts, ASlowNodeBetweenIntegersStaysThere) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 64, 56, 56}).output("y", kFloat, {1, 64, 56, 56});
  add_conv(model, "x", "a", {96, 64, 3, 3});
  add_conv(model, "a", "b", {96, 1, 3, 3}, 96);
  add_conv(model, "b", "y", {64, 96, 3, 3});
  constexpr int kPositions = 56 * 56;
  EXPECT_THAT(plan_of(model, seen({{"x", {64, kPositions}},
                                   {"a", {96, kPositions}},
                                   {"b", {96, kPositions}},
                                   {"y", {64, kPositions}}})),
              HasSubstr("node 0:1 static -> b, codes\n"));
}

// x ─ Conv ─ a ─ AveragePool ─ b ─ Conv ─ y: the pool's INT8 kernel is slower than FP32 with conversions.
TEST(IntegerCosts, AKernelThatIsTooSlowCutsTheIntegersInTwo) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 64, 56, 56}).output("y", kFloat, {1, 64, 56, 56});
  add_conv(model, "x", "a", {64, 64, 3, 3});
  model.node("AveragePool", {"a"}, {"b"},
             {ints_attribute("kernel_shape", {3, 3}), ints_attribute("pads", {1, 1, 1, 1})});
  add_conv(model, "b", "y", {64, 64, 3, 3});
  constexpr int kPositions = 56 * 56;
  EXPECT_EQ(plan_of(model, seen({{"x", {64, kPositions}},
                                 {"a", {64, kPositions}},
                                 {"b", {64, kPositions}},
                                 {"y", {64, kPositions}}})),
            "node 0:0 static -> a, codes\n"
            "node 0:2 static -> y, codes\n");
}

// x ─ Conv with one input ─ a ─ MaxPool ─ b ─ Conv ─ y: runtimes would quantize in front of the MaxPool,
// which is slow unless the op before it is an integer Conv.
TEST(IntegerCosts, AMaxPoolTakesCodesOfAnIntegerConvOrGivesFloats) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 1, 160, 160}).output("y", kFloat, {1, 32, 80, 80});
  add_conv(model, "x", "a", {32, 1, 3, 3});
  model.node("MaxPool", {"a"}, {"b"},
             {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})});
  add_conv(model, "b", "y", {32, 32, 3, 3});
  EXPECT_EQ(
      plan_of(
          model,
          seen({{"x", {1, 160 * 160}}, {"a", {32, 160 * 160}}, {"b", {32, 80 * 80}}, {"y", {32, 80 * 80}}})),
      "node 0:0 static -> a, codes\n"
      "node 0:1 static -> b, codes\n"
      "node 0:2 static -> y, codes\n");
}

// x ─ Conv ─ a ─ Exp ─ e ─ small Conv ─ f ─ Exp ─ g ─ Conv ─ y
TEST(IntegerCosts, AnIslandThatGainsLessThanItsWaysCostStaysInFloats) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 64, 80, 80}).output("y", kFloat, {1, 64, 80, 80});
  add_conv(model, "x", "a", {8, 64, 3, 3});
  model.node("Exp", {"a"}, {"e"});
  add_conv(model, "e", "f", {8, 8, 1, 1});
  model.node("Exp", {"f"}, {"g"});
  add_conv(model, "g", "y", {64, 8, 3, 3});
  std::map<std::string, std::pair<int, int>> sizes;
  for (const char* name : {"x", "a", "e", "f", "g", "y"})
    sizes.emplace(name, std::pair(*name == 'x' || *name == 'y' ? 64 : 8, 80 * 80));
  EXPECT_EQ(plan_of(model, seen(sizes)),
            "node 0:0 static -> a, codes\n"
            "node 0:2 float: is faster in FP32\n"
            "node 0:4 static -> y, codes\n");
}

// x ─ Conv ─ a ─ Softmax over channels ─ s ─ Conv ─ y, the end of many detectors: next to INT8 ops, which use
// channels-last, the Softmax is much faster.
TEST(IntegerCosts, AConvBehindASoftmaxOverChannelsStaysOnIntegers) {
  const auto plan_with = [](const char* op, const Strings& attributes) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 16, 4, 2100}).output("y", kFloat, {1, 1, 4, 2100});
    add_conv(model, "x", "a", {16, 16, 9, 9});
    model.node(op, {"a"}, {"s"}, attributes);
    add_conv(model, "s", "y", {1, 16, 1, 1});
    return plan_of(model, seen({{"x", {16, 8400}}, {"a", {16, 8400}}, {"s", {16, 8400}}, {"y", {1, 8400}}}));
  };
  EXPECT_THAT(plan_with("Softmax", {int_attribute("axis", 1)}), HasSubstr("node 0:2 static -> y"));
  EXPECT_THAT(plan_with("Softmax", {int_attribute("axis", 3)}),
              HasSubstr("node 0:2 float: is faster in FP32"));
}

// Two small Convs: they would be faster in FP32, but the difference is negligible.
TEST(IntegerCosts, WhatTakesNoTimeIsNotWeighed) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 8, 8}).output("y", kFloat, {1, 4, 8, 8});
  add_conv(model, "x", "a", {4, 4, 1, 1});
  add_conv(model, "a", "y", {4, 4, 1, 1});
  EXPECT_EQ(plan_of(model, seen({{"x", {4, 64}}, {"a", {4, 64}}, {"y", {4, 64}}})),
            "node 0:0 static -> a, codes\n"
            "node 0:1 static -> y, codes\n");
}

TEST(IntegerCosts, ModelsOfNothingButSlowNodesAreOnIntegersAllTheSame) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 112, 112}).output("a", kFloat, {1, 4, 112, 112});
  add_conv(model, "x", "a", {4, 3, 1, 1});
  EXPECT_EQ(plan_of(model, seen({{"x", {3, 112 * 112}}, {"a", {4, 112 * 112}}})),
            "node 0:0 static -> a, codes\n");
}

// Without VNNI a Conv with few channels gains less, and quantization costs more.
TEST(IntegerCosts, AreThoseOfTheCpuThatTheTargetNames) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 24, 80, 80}).output("y", kFloat, {1, 24, 80, 80});
  add_conv(model, "x", "a", {24, 24, 5, 5});
  model.node("Exp", {"a"}, {"e"});
  add_conv(model, "e", "f", {24, 24, 1, 1});
  model.node("Exp", {"f"}, {"y"});
  std::map<std::string, std::pair<int, int>> sizes;
  for (const char* name : {"x", "a", "e", "f", "y"}) sizes.emplace(name, std::pair(24, 80 * 80));
  EXPECT_THAT(plan_of(model, seen(sizes), recipe_for("linux-x64@1.30.0+vnni")), HasSubstr("node 0:2 static"));
  EXPECT_THAT(plan_of(model, seen(sizes), recipe_for("linux-x64@1.30.0+avx2")), HasSubstr("node 0:2 float"));
}

}  // namespace
}  // namespace ounce::plan
