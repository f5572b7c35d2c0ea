// Recipe::nodes: overrides for single nodes.
#include <gmock/gmock.h>
#include <ounce/error.h>

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
using test::graph_attribute;
using test::GraphBuilder;
using test::kBool;
using test::kFloat;
using test::ModelBuilder;
using test::ramp;
using test::Strings;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Nodes = std::map<std::string, Format>;

Recipe recipe_of(Format format, const Nodes& nodes) {
  Recipe recipe;
  recipe.format = format;
  recipe.fp16_budget = 0;
  recipe.integer.calibration = CalibrationMethod::kMinMax;
  recipe.integer.correct_bias = false;
  recipe.nodes = nodes;
  return recipe;
}

calibration::Ranges seen(const Strings& names) {
  calibration::Ranges ranges;
  for (const std::string& name : names) ranges.values[name].add(std::vector<float>{-1, 1.55F}, 1, 1);
  return ranges;
}

std::string text_of(const GraphBuilder& builder, const Recipe& recipe,
                    const calibration::Ranges* ranges = nullptr) {
  const std::string bytes = builder.bytes();
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(model);
  ThreadPool pool(2);
  return make_plan(model, index, recipe, pool, ranges).text();
}
std::string text_of(const GraphBuilder& builder, Format format, const Nodes& nodes,
                    const calibration::Ranges* ranges = nullptr) {
  return text_of(builder, recipe_of(format, nodes), ranges);
}
std::string refusal_of(const GraphBuilder& builder, const Recipe& recipe) {
  const Error error = error_of([&] { text_of(builder, recipe); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  return error.what();
}

// x ─ MatMul(wa) ─ a ─ MatMul(wy) ─ y
ModelBuilder chain() {
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).output("y", kFloat, {2, 32});
  model.initializer("wa", {32, 32}, ramp({32, 32})).initializer("wy", {32, 32}, ramp({32, 32}));
  model.node("MatMul", {"x", "wa"}, {"a"}).node("MatMul", {"a", "wy"}, {"y"});
  return model;
}

TEST(MixedPlan, EachFormatCanBeThatOfANode) {
  const std::string first =
      "wa float32[32,32] -> int4 block 32 fold table: weight of MatMul; folded at load, FP32 speed\n";
  const auto second = [](Format format) { return text_of(chain(), Format::kW4, {{"y", format}}); };
  EXPECT_EQ(second(Format::kFp32),
            first + "wy float32[32,32] -> keep: kept in FP32, as requested for its node\n");
  EXPECT_EQ(second(Format::kW16), first +
                                      "wy float32[32,32] -> float16 tensor fold: weight of MatMul, as 16-bit "
                                      "floats, as requested for its node; folded at load, FP32 speed\n");
  EXPECT_EQ(second(Format::kW8),
            first +
                "wy float32[32,32] -> int8 channel 1 fold: weight of MatMul, as requested for its node; "
                "folded at load, FP32 speed\n");
  EXPECT_EQ(second(Format::kW4), first +
                                     "wy float32[32,32] -> int4 block 32 fold table: weight of MatMul; "
                                     "folded at load, FP32 speed\n");
  EXPECT_THAT(text_of(chain(), Format::kW16, {{"a", Format::kW4}}),
              StartsWith("wa float32[32,32] -> int4 block 32"));
}

TEST(MixedPlan, OfASharedWeightTheMostPreciseWishHolds) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).output("y", kFloat, {2, 32}).output("z", kFloat, {2, 32});
  model.initializer("w", {32, 32}, ramp({32, 32}));
  model.node("MatMul", {"x", "w"}, {"y"}).node("MatMul", {"x", "w"}, {"z"});
  const auto text = [&](Format format, const Nodes& nodes) { return text_of(model, format, nodes); };
  EXPECT_THAT(text(Format::kW8, {{"y", Format::kW4}, {"z", Format::kW16}}),
              StartsWith("w float32[32,32] -> float16"));
  EXPECT_THAT(text(Format::kW8, {{"y", Format::kFp32}, {"z", Format::kW16}}), HasSubstr("-> keep"));
  EXPECT_THAT(text(Format::kW4, {{"y", Format::kW8}}), HasSubstr("-> int8"));
  // The other node needs the format of the recipe.
  EXPECT_THAT(text(Format::kW8, {{"y", Format::kW4}}),
              HasSubstr("-> int8 channel 1 fold: weight of MatMul, because another of its nodes needs it"));
}

TEST(MixedPlan, AWeightThatIsMovedIsThatOfTheOpBehind) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).output("y", kFloat, {2, 32});
  model.initializer("w", {32, 32}, ramp({32, 32}));
  model.node("Transpose", {"w"}, {"t"}).node("MatMul", {"x", "t"}, {"y"});
  EXPECT_THAT(text_of(model, Format::kW8, {{"y", Format::kFp32}}), HasSubstr("as requested for its node"));
  EXPECT_THAT(text_of(model, Format::kW8, {{"t", Format::kFp32}}), HasSubstr("as requested for its node"));
}

// Rows are looked up in a table: overrides of nodes that use the rows do not apply to the table.
TEST(MixedPlan, ATableIsThatOfItsLookup) {
  ModelBuilder model;
  model.input("i", test::kInt64, {4}).output("y", kFloat, {4, 32});
  model.initializer("w", {64, 32}, ramp({64, 32}));
  model.node("Gather", {"w", "i"}, {"rows"}).node("Exp", {"rows"}, {"y"});
  EXPECT_THAT(text_of(model, Format::kW8, {{"y", Format::kFp32}}), HasSubstr("-> int8"));
  EXPECT_THAT(text_of(model, Format::kW8, {{"rows", Format::kFp32}}), HasSubstr("-> keep"));
}

TEST(MixedPlan, NodesInABranchAreNamedByTheirPath) {
  const auto branch = [] {
    GraphBuilder graph;
    graph.output("z", kFloat, {2, 32}).node("MatMul", {"x", "w"}, {"z"});
    return graph.initializer("w", {32, 32}, ramp({32, 32})).bytes();
  };
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).input("c", kBool, {}).output("y", kFloat, {2, 32});
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", branch()), graph_attribute("else_branch", branch())});
  EXPECT_EQ(text_of(model, Format::kW8, {{"y/else_branch/z", Format::kFp32}}),
            "w float32[32,32] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n"
            "w float32[32,32] -> keep: kept in FP32, as requested for its node\n");
}

TEST(MixedPlan, StaticNodesCanBeFloatsOrDynamic) {
  const calibration::Ranges ranges = seen({"x", "a", "y"});
  EXPECT_EQ(text_of(chain(), Format::kInt8, {{"y", Format::kInt8Dynamic}}, &ranges),
            "wa float32[32,32] -> int8 channel 1 dq pairs: weight of an integer MatMul\n"
            "wy float32[32,32] -> int8 channel 1 kernel pairs: weight of an integer MatMul\n"
            "node 0:0 static -> a\n"
            "node 0:1 dynamic -> y\n"
            "value 0:x uint8 scale 0.01 zero 100\n");
  EXPECT_EQ(text_of(chain(), Format::kInt8, {{"a", Format::kW16}}, &ranges),
            "wa float32[32,32] -> float16 tensor fold: weight of MatMul, as 16-bit floats, as requested for "
            "its node; folded at load, FP32 speed\n"
            "wy float32[32,32] -> int8 channel 1 dq pairs: weight of an integer MatMul\n"
            "node 0:0 float: kept in FP32 by the recipe\n"
            "node 0:1 static -> y\n"
            "value 0:a uint8 scale 0.01 zero 100\n");
}

TEST(MixedPlan, DynamicNodesCanBeFloats) {
  EXPECT_EQ(
      text_of(chain(), Format::kInt8Dynamic, {{"a", Format::kW4}, {"y", Format::kInt8Dynamic}}),
      "wa float32[32,32] -> int4 block 32 fold table: weight of MatMul, as requested for its node; folded at "
      "load, FP32 speed\n"
      "wy float32[32,32] -> int8 channel 1 kernel pairs: weight of an integer MatMul\n"
      "node 0:0 float: kept in FP32 by the recipe\n"
      "node 0:1 dynamic -> y\n");
}

// x ─ Conv(wa, b) ─ a ─ Relu ─ r ─ Conv(wc) ─ c ─ Add(r) ─ s ─ Conv(wy) ─ y
ModelBuilder mixed_images() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 8, 8}).output("y", kFloat, {1, 4, 8, 8});
  model.initializer("b", {4}, {1, 2, 3, 4});
  for (const char* name : {"wa", "wc", "wy"}) model.initializer(name, {4, 4, 1, 1}, ramp({4, 4, 1, 1}));
  model.node("Conv", {"x", "wa", "b"}, {"a"}).node("Relu", {"a"}, {"r"}).node("Conv", {"r", "wc"}, {"c"});
  model.node("Add", {"r", "c"}, {"s"}).node("Conv", {"s", "wy"}, {"y"});
  return model;
}
std::string nodes_of(const Nodes& nodes, bool dynamic_conv = false) {
  const calibration::Ranges ranges = seen({"x", "a", "r", "c", "s", "y"});
  Recipe recipe = recipe_of(Format::kInt8, nodes);
  recipe.integer.dynamic_conv = dynamic_conv;
  const std::string text = text_of(mixed_images(), recipe, &ranges);
  const std::size_t first = text.find("node ");
  return text.substr(first, text.find("value ") - first);
}

TEST(MixedPlan, ADynamicConvHasToBeForced) {
  EXPECT_THAT(
      nodes_of({{"c", Format::kInt8Dynamic}}),
      HasSubstr("node 0:2 float: ConvInteger is several times slower than FP32 (`integer.dynamic_conv`)\n"));
  EXPECT_EQ(nodes_of({{"c", Format::kInt8Dynamic}}, /*dynamic_conv=*/true),
            "node 0:0 static -> r, codes, clamped by its codes\n"
            "node 0:2 dynamic -> c\n"
            "node 0:4 static -> y, codes\n");
}

TEST(MixedPlan, WhatFollowsWithoutWeightsCanBeFloatsToo) {
  EXPECT_EQ(nodes_of({{"s", Format::kFp32}}),
            "node 0:0 static -> r, codes, clamped by its codes\n"
            "node 0:2 static -> c, codes\n"
            "node 0:3 float: kept in FP32 by the recipe\n"
            "node 0:4 static -> y, codes\n");
  // A Relu is not absorbed then.
  EXPECT_THAT(nodes_of({{"r", Format::kFp32}}), StartsWith("node 0:0 static -> a, codes\n"));
  // There is no dynamic kernel for Add.
  EXPECT_EQ(nodes_of({{"s", Format::kInt8Dynamic}}), nodes_of({}));
}

// Two Gemms, or two Convs, with a shared weight.
ModelBuilder twins(const std::string& op, const Dims& input, const Dims& weight) {
  ModelBuilder model;
  model.input("x", kFloat, input).output("y", kFloat, input).output("z", kFloat, input);
  model.initializer("w", weight, ramp(weight));
  model.node(op, {"x", "w"}, {"y"}).node(op, {"x", "w"}, {"z"});
  return model;
}

TEST(MixedPlan, AWeightMayBelongToAStaticAndToADynamicNode) {
  const calibration::Ranges ranges = seen({"x", "y", "z"});
  EXPECT_EQ(text_of(twins("Gemm", {2, 32}, {32, 32}), Format::kInt8, {{"z", Format::kInt8Dynamic}}, &ranges),
            "w float32[32,32] -> int8 channel 1 kernel pairs: weight of an integer Gemm\n"
            "node 0:0 static -> y\n"
            "node 0:1 dynamic -> z\n"
            "value 0:x uint8 scale 0.01 zero 100\n");
}

TEST(MixedPlan, AWeightThatIsTornBetweenKernelsIsFloats) {
  const calibration::Ranges ranges = seen({"x", "y", "z"});
  const Dims image = {1, 16, 8, 8}, kernel = {16, 16, 1, 1};
  Recipe recipe = recipe_of(Format::kInt8, {{"z", Format::kInt8Dynamic}});
  recipe.integer.dynamic_conv = true;
  EXPECT_EQ(text_of(twins("Conv", image, kernel), recipe, &ranges),
            "w float32[16,16,1,1] -> int8 channel 0 fold: weight of Conv; folded at load, FP32 speed\n"
            "node 0:0 float: its weight also feeds a node with another kind of quantization\n"
            "node 0:1 float: its weight also feeds a node with another kind of quantization\n");
  // Shared with an FP32 node.
  EXPECT_THAT(
      text_of(twins("Gemm", {2, 32}, {32, 32}), Format::kInt8, {{"z", Format::kFp32}}, &ranges),
      testing::AllOf(StartsWith("w float32[32,32] -> keep: kept in FP32, as requested for its node\n"),
                     HasSubstr("node 0:0 float: its weight also feeds a node that is kept in FP32\n")));
}

TEST(MixedPlan, FourBitWeightsAreForStaticNodesOnly) {
  const calibration::Ranges ranges = seen({"x", "a", "y"});
  Recipe recipe = recipe_of(Format::kInt8, {{"y", Format::kInt8Dynamic}});
  recipe.integer.weights = WeightType::kS4;
  const std::string text = text_of(chain(), recipe, &ranges);
  EXPECT_THAT(text, HasSubstr("wa float32[32,32] -> int4"));
  EXPECT_THAT(text, HasSubstr("wy float32[32,32] -> int8"));
}

TEST(MixedPlan, ANodeIsKnownByItsOwnNameWhereNoValueHasIt) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).output("y", kFloat, {2, 32});
  model.initializer("wa", {32, 32}, ramp({32, 32})).initializer("wy", {32, 32}, ramp({32, 32}));
  model.node("MatMul", {"x", "wa"}, {"a"}, {}, "first").node("MatMul", {"a", "wy"}, {"y"}, {}, "a");
  EXPECT_EQ(text_of(model, Format::kW4, {{"first", Format::kFp32}}),
            text_of(chain(), Format::kW4, {{"a", Format::kFp32}}));
  EXPECT_EQ(text_of(model, Format::kW4, {{"a", Format::kFp32}}),
            text_of(chain(), Format::kW4, {{"a", Format::kFp32}}));
}

TEST(MixedPlan, ANameThatNoNodeGivesIsRefused) {
  EXPECT_EQ(refusal_of(chain(), recipe_of(Format::kW8, {{"a", Format::kW4}, {"nothing", Format::kW4}})),
            "`nodes` 'nothing': no node has this name or this output");
  EXPECT_THAT(refusal_of(chain(), recipe_of(Format::kW8, {{"x", Format::kW4}})), HasSubstr("'x'"));
  EXPECT_THAT(refusal_of(chain(), recipe_of(Format::kInt8Dynamic, {{"b", Format::kW4}})),
              StartsWith("`nodes` 'b': no node has this name or this output; normalizations"));
}

TEST(MixedPlan, ANameThatIsNearlyOneIsGuessed) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).output("y", kFloat, {2, 32});
  model.initializer("w", {32, 32}, ramp({32, 32}));
  model.node("MatMul", {"x", "w"}, {"product"}, {}, "first").node("Relu", {"product"}, {"y"});
  EXPECT_EQ(refusal_of(model, recipe_of(Format::kW8, {{"prodcut", Format::kW4}})),
            "`nodes` 'prodcut': no node has this name or this output; did you mean 'product'?");
  EXPECT_THAT(refusal_of(model, recipe_of(Format::kW8, {{"firts", Format::kW4}})), HasSubstr("'first'?"));
}

TEST(MixedPlan, ALevelOfNoProductIsRefused) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 32}).output("y", kFloat, {2, 32});
  model.initializer("w", {32, 32}, ramp({32, 32}));
  model.node("MatMul", {"x", "w"}, {"product"}).node("Relu", {"product"}, {"y"});
  const auto refusal = [&](const char* name) {
    Recipe recipe = recipe_of(Format::kNbits4, {});
    recipe.nbits.levels[name] = AccuracyLevel::k1;
    return refusal_of(model, recipe);
  };
  EXPECT_EQ(refusal("prodcut"), "`nbits.levels` 'prodcut': no node has this output; did you mean 'product'?");
  EXPECT_EQ(refusal("nothing"), "`nbits.levels` 'nothing': no node has this output");
  EXPECT_EQ(refusal("y"),
            "`nbits.levels` 'y': Relu has this output, but levels apply only to MatMul and Gemm");
  Recipe recipe = recipe_of(Format::kNbits4, {});
  recipe.nbits.levels["product"] = AccuracyLevel::k1;
  EXPECT_NO_THROW(text_of(model, recipe));
}

TEST(MixedPlan, AModelThatKeepsItsStaticScalesHasNoDynamicNodes) {
  EXPECT_THAT(refusal_of(chain(), recipe_of(Format::kInt8, {{"a", Format::kInt8Dynamic}})),
              HasSubstr("is already quantized statically"));
}

// Without a different format, the reason does not mention overrides.
TEST(MixedPlan, NodesInFloatsAreStoredAsTheRest) {
  EXPECT_THAT(text_of(chain(), Format::kInt8Dynamic, {{"a", Format::kW8}}),
              Not(HasSubstr("as requested for its node")));
}

// If 16-bit floats are only a storage format, they are the format of nodes without an override.
TEST(MixedPlan, TheRestMayBeStoredAsHalves) {
  Recipe recipe = recipe_of(Format::kInt8Dynamic, {{"a", Format::kW8}, {"y", Format::kFp32}});
  recipe.integer.fp16_remainder = true;
  EXPECT_THAT(
      text_of(chain(), recipe),
      StartsWith("wa float32[32,32] -> int8 channel 1 fold: weight of MatMul, as requested for its node"));
}

TEST(MixedPlan, WithoutNodesNothingIsSaid) {
  EXPECT_THAT(text_of(chain(), Format::kW8, {}), Not(HasSubstr("asked")));
}

}  // namespace
}  // namespace ounce::plan
