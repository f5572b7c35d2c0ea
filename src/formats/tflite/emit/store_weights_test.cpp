// Plans and what is made of them: every stored form is written, read again and decoded.
#include "formats/tflite/emit/store_weights.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>
#include <random>

#include "formats/tflite/file/reader.h"
#include "formats/tflite/prepare/prepare.h"
#include "fuzz/check_tflite.h"
#include "fuzz/sample_tflites.h"
#include "support/error_of.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> wave(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.7F * static_cast<float>(i)) + 0.01F;
  return values;
}

Recipe recipe_of(Format format, MemoryUse memory = MemoryUse::kFast) {
  Recipe recipe;
  recipe.format = format;
  recipe.memory = memory;
  recipe.min_bytes = 64;
  recipe.fp16_budget = 0;
  return recipe;
}

// A plan, carried out, written and read again.
struct Made {
  Made(const Model& model, const Recipe& recipe)
      : source(std::make_shared<const TfliteFile>(model)), plan(make_plan(*source, recipe, pool)) {
    Model changed = source->model();
    store_weights(changed, source, plan);
    written = std::make_shared<const TfliteFile>(read_model_from_memory(to_bytes(changed), "written"));
  }

  const Decision& of(std::string_view name) const {
    for (const Decision& decision : plan.decisions) {
      if (decision.weight.name == name) return decision;
    }
    throw std::out_of_range(std::string(name));
  }
  double sqnr(std::string_view name) const {
    return compare_weight(*source, of(name), *written, run_serially).sqnr_db();
  }
  const SubGraph& graph() const { return written->model().subgraphs[0]; }
  const Tensor& tensor(std::string_view name) const { return graph().tensors[of(name).tensor]; }
  // "CONV_2D 5": the operators and their versions.
  std::vector<std::string> operators() const {
    std::vector<std::string> names;
    for (const Operator& op : graph().operators) {
      const OperatorCode& code = written->model().operator_codes[op.opcode_index];
      names.push_back(op_name(code) + " " + std::to_string(code.version));
    }
    return names;
  }

  ThreadPool pool{1};
  std::shared_ptr<const TfliteFile> source, written;
  Plan plan;
};

// A convolution, a depthwise one, a transposed one and a product, with a bias each.
TfliteBuilder network() {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 16, 16, 8}), a = model.tensor("a", {1, 16, 16, 16}),
             b = model.tensor("b", {1, 16, 16, 16}), c = model.tensor("c", {1, 32, 32, 4}),
             d = model.tensor("d", {1, 6});
  const auto bias = model.weights("bias", {16}, wave(16));
  const auto conv = model.weights("conv", {16, 3, 3, 8}, wave(16 * 9 * 8)),
             depth = model.weights("depth", {1, 3, 3, 16}, wave(9 * 16)),
             up = model.weights("up", {4, 2, 2, 16}, wave(4 * 4 * 16)),
             full = model.weights("full", {6, 4096}, wave(6 * 4096));
  const auto shape = model.integers("shape", {4}, {1, 32, 32, 4});
  model.op(Builtin::kConv2D, {x, conv, bias}, {a}, "Conv2DOptions");
  model.options().set("stride_w", std::int64_t{1});
  model.options().set("stride_h", std::int64_t{1});
  model.op(Builtin::kDepthwiseConv2D, {a, depth, bias}, {b}, "DepthwiseConv2DOptions");
  model.op(Builtin::kTransposeConv, {shape, up, b}, {c}, "TransposeConvOptions");
  model.op(Builtin::kFullyConnected, {c, full, -1}, {d}, "FullyConnectedOptions");
  model.inputs({x}).outputs({d});
  return model;
}

TEST(TfliteStoreWeights, EightBitsGetAScaleForEachChannelAndDequantize) {
  const Made made(network().model, recipe_of(Format::kW8));
  EXPECT_THAT(made.operators(),
              ElementsAre("DEQUANTIZE 5", "DEQUANTIZE 5", "DEQUANTIZE 5", "DEQUANTIZE 5", "CONV_2D 1",
                          "DEPTHWISE_CONV_2D 1", "TRANSPOSE_CONV 1", "FULLY_CONNECTED 1"));
  const std::pair<const char*, std::pair<std::size_t, int>> expected[] = {
      {"conv", {16, 0}}, {"depth", {16, 3}}, {"up", {4, 0}}, {"full", {6, 0}}};
  for (const auto& [name, scales] : expected) {
    ASSERT_TRUE(made.tensor(name).quantization) << name;
    EXPECT_EQ(made.tensor(name).type, TensorType::kInt8) << name;
    EXPECT_EQ(made.tensor(name).quantization->scale.size(), scales.first) << name;
    EXPECT_EQ(made.tensor(name).quantization->dimension, scales.second) << name;
    EXPECT_GT(made.sqnr(name), 38) << name;
  }
  EXPECT_EQ(made.of("bias").reason, "is the bias of an operator with an INT8 weight");  // XNNPACK wants it
}

TEST(TfliteStoreWeights, SixteenBitsAreHalves) {
  const Made made(network().model, recipe_of(Format::kW16));
  for (const char* name : {"conv", "depth", "up", "full"}) {
    EXPECT_EQ(made.tensor(name).type, TensorType::kFloat16) << name;
    EXPECT_GT(made.sqnr(name), 65) << name;
  }
  EXPECT_EQ(made.operators().front(), "DEQUANTIZE 3");
}

TEST(TfliteStoreWeights, HybridOperatorsTakeCodesAndKeepAFloatBias) {
  Recipe recipe = recipe_of(Format::kInt8Dynamic, MemoryUse::kLow);
  const Made made(network().model, recipe);
  EXPECT_THAT(made.operators(), ElementsAre("DEQUANTIZE 5", "DEQUANTIZE 5", "CONV_2D 5",
                                            "DEPTHWISE_CONV_2D 1", "TRANSPOSE_CONV 1", "FULLY_CONNECTED 12"));
  EXPECT_THAT(made.of("conv").reason, HasSubstr("quantizes activations at run time"));
  EXPECT_EQ(made.of("bias").reason, "is the bias of an operator with an INT8 weight");
  ASSERT_EQ(made.plan.nodes.size(), 4U);
  EXPECT_EQ(made.plan.nodes[0].arithmetic, Arithmetic::kDynamic);
  EXPECT_THAT(made.plan.nodes[1].reason, HasSubstr("no hybrid kernel"));
}

TEST(TfliteStoreWeights, FourBitsAreForKernelsThatTakeThem) {
  const Made made(network().model, recipe_of(Format::kW4));
  EXPECT_EQ(made.tensor("full").type, TensorType::kInt4);
  EXPECT_GT(made.sqnr("full"), 15);
  EXPECT_EQ(made.tensor("conv").type, TensorType::kInt8);
  EXPECT_THAT(made.of("conv").reason, HasSubstr("CONV_2D has no kernel for 4 bits, so 8"));
  EXPECT_EQ(made.operators().back(), "FULLY_CONNECTED 10");
}

TEST(TfliteStoreWeights, TablesAreLookedUpInCodes) {
  TfliteBuilder model;
  const auto ids = model.tensor("ids", {1, 3}, TensorType::kInt64), rows = model.tensor("rows", {1, 3, 8});
  const auto table = model.weights("table", {50, 8}, wave(400));
  model.op(Builtin::kGather, {table, ids}, {rows}, "GatherOptions");
  model.inputs({ids}).outputs({rows});
  const Made made(model.model, recipe_of(Format::kW8));
  EXPECT_THAT(made.operators(), ElementsAre("CAST 1", "RESHAPE 1", "EMBEDDING_LOOKUP 4", "RESHAPE 1"));
  EXPECT_THAT(made.of("table").reason, HasSubstr("rows are dequantized after the lookup"));
  EXPECT_GT(made.sqnr("table"), 38);
  EXPECT_EQ(made.graph().outputs[0], rows);
}

TEST(TfliteStoreWeights, TensorsThatShareABufferShareTheirCodes) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 16}), y = model.tensor("y", {1, 16}), z = model.tensor("z", {1, 16});
  const auto one = model.weights("one", {16, 16}, wave(256)), two = model.weights("two", {16, 16}, wave(256));
  model.model.subgraphs[0].tensors[static_cast<std::size_t>(two)].buffer =
      model.model.subgraphs[0].tensors[static_cast<std::size_t>(one)].buffer;
  model.op(Builtin::kFullyConnected, {x, one, -1}, {y}, "FullyConnectedOptions");
  model.op(Builtin::kFullyConnected, {y, two, -1}, {z}, "FullyConnectedOptions");
  model.inputs({x}).outputs({z});
  const Made made(model.model, recipe_of(Format::kW8));
  EXPECT_EQ(made.tensor("one").buffer, made.tensor("two").buffer);
  EXPECT_GT(made.sqnr("two"), 38);

  Recipe recipe = recipe_of(Format::kW8);
  recipe.exclude = {"^two$"};
  const Made kept(model.model, recipe);
  EXPECT_FALSE(kept.of("one").is_stored());
  EXPECT_EQ(kept.of("one").reason, "'two' uses the same values unchanged");
}

TEST(TfliteStoreWeights, HalvesBehindDequantizeAreWeights) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 16}), y = model.tensor("y", {1, 16}), w = model.tensor("w", {16, 16});
  const auto halves = model.constant("halves", {16, 16}, TensorType::kFloat16, std::string(512, '\x35'));
  model.op(Builtin::kDequantize, {halves}, {w});
  model.op(Builtin::kFullyConnected, {x, w, -1}, {y}, "FullyConnectedOptions");
  model.inputs({x}).outputs({y});
  Model prepared = model.model;
  prepare(prepared, {});
  const Made made(prepared, recipe_of(Format::kW8));
  ASSERT_EQ(made.plan.stored_count(), 1U);
  EXPECT_THAT(made.operators(), ElementsAre("DEQUANTIZE 5", "FULLY_CONNECTED 1"));
}

TEST(TfliteStoreWeights, EveryWeightThatIsLeftAloneHasAReason) {
  TfliteBuilder model = network();
  const auto sum = model.tensor("sum", {1, 6});
  const auto addend = model.weights("addend", {6, 6}, wave(36)),
             zeros = model.weights("zeros", {8, 8}, std::vector<float>(64));
  const auto unused = model.weights("unused", {8, 8}, wave(64));
  model.op(Builtin::kMul, {addend, zeros}, {sum});
  model.outputs({sum});
  const Made made(model.model, recipe_of(Format::kW8));
  EXPECT_EQ(made.of("addend").reason, "feeds MUL, which may need full precision");
  EXPECT_EQ(made.tensor("unused").type, TensorType::kFloat32);
  EXPECT_EQ(made.of("unused").reason, "is unused");
  EXPECT_EQ(static_cast<std::size_t>(unused), made.of("unused").tensor);
}

TEST(TfliteStoreWeights, WhatTfliteDoesNotHaveIsRefused) {
  Recipe recipe = recipe_of(Format::kW8);
  recipe.codebook = true;
  EXPECT_THAT(error_of([&] { Made(network().model, recipe); }).what(),
              HasSubstr("`codebook` is for ONNX models"));
  recipe = recipe_of(Format::kW8);
  recipe.nodes = {{"nowhere", Format::kW16}};
  EXPECT_THAT(error_of([&] { Made(network().model, recipe); }).what(), HasSubstr("no node has this output"));
}

TEST(TfliteStoreWeights, NodesMayHaveAFormatOfTheirOwn) {
  Recipe recipe = recipe_of(Format::kW8);
  recipe.nodes = {{"a", Format::kW16}, {"d", Format::kFp32}};
  const Made made(network().model, recipe);
  EXPECT_EQ(made.tensor("conv").type, TensorType::kFloat16);
  EXPECT_EQ(made.tensor("full").type, TensorType::kFloat32);
  EXPECT_EQ(made.tensor("up").type, TensorType::kInt8);
}

TEST(TfliteStoreWeights, DamagedModelsAreRefusedOrPlanned) {
  std::mt19937 random(3);
  for (const Model& model : {small_tflite(), quantized_tflite(), everything_tflite(), network().model}) {
    const std::string sound = to_bytes(model);
    for (int i = 0; i < 300; ++i) {
      std::string bytes = sound;
      for (int change = 0; change < 2; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
      EXPECT_NO_THROW(test::check_tflite_quantize(static_cast<char>(i % 6) + bytes));
    }
  }
}

}  // namespace
}  // namespace ounce::tflite
