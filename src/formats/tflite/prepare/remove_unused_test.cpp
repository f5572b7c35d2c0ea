#include "formats/tflite/prepare/remove_unused.h"

#include <gmock/gmock.h>

#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"
#include "fuzz/sample_tflites.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

using testing::ElementsAre;

TEST(TfliteRemoveUnused, AModelOfWhichAllIsUsedKeepsItsContent) {
  for (const Model& model : {small_tflite(), quantized_tflite()}) {
    Model same = model;
    EXPECT_EQ(remove_unused(same).count, 0U);
    EXPECT_TRUE(same_content(same, model));
  }
}

TEST(TfliteRemoveUnused, OperatorsTensorsBuffersAndCodesGo) {
  TfliteBuilder model;
  const auto gone = model.weights("gone", {1}, {7});
  const auto x = model.tensor("x", {1}), dead = model.tensor("dead", {1}),
             deader = model.tensor("deader", {1});
  const auto w = model.weights("w", {1}, {2}), y = model.tensor("y", {1});
  model.op(Builtin::kMul, {x, gone}, {dead}, "MulOptions");
  model.op(Builtin::kExp, {dead}, {deader});
  model.op(Builtin::kAdd, {x, w}, {y}, "AddOptions");
  model.inputs({x}).outputs({y}).signature("serving_default").metadata("note", "text");
  Model pruned = model.model;
  EXPECT_EQ(remove_unused(pruned).count, 8U);  // 2 operators with their codes, 3 tensors, a buffer
  TfliteBuilder expected;
  const auto a = expected.tensor("x", {1}), b = expected.weights("w", {1}, {2}),
             c = expected.tensor("y", {1});
  expected.op(Builtin::kAdd, {a, b}, {c}, "AddOptions");
  expected.inputs({a}).outputs({c}).signature("serving_default").metadata("note", "text");
  EXPECT_TRUE(same_content(pruned, expected.model));
}

TEST(TfliteRemoveUnused, WhatHasEffectsStays) {
  Model model = everything_tflite();
  const std::string text = text_of(model);
  remove_unused(model);
  // CUSTOM, control flow and variables are there; of what is pure, what nothing uses is gone.
  const std::string quantize = "QUANTIZE(four_bits) -> q\n", add = "ADD(u, outside) -> sum\n";
  std::string expected = text;
  expected.erase(expected.find(quantize), quantize.size());
  expected.erase(expected.find(add), add.size());
  EXPECT_EQ(text_of(model), expected);
}

TEST(TfliteRemoveUnused, ScalesOfOtherTensorsAreUsed) {
  Model model = everything_tflite();
  model.carried.clear();
  for (OperatorCode& code : model.operator_codes) code.carried.clear();
  for (SubGraph& graph : model.subgraphs) {
    for (Tensor& tensor : graph.tensors) tensor.carried.clear();
    for (Operator& op : graph.operators) op.carried.clear();
    for (Operator& op : graph.operators) {
      if (op_name(model.operator_codes[op.opcode_index]) == "QUANTIZE")
        graph.outputs.push_back(op.outputs[0]);
    }
  }
  const auto named = [](const Model& in, Bytes name) -> const Tensor* {
    for (const Tensor& tensor : in.subgraphs[0].tensors) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  };
  Model pruned = model;
  EXPECT_GT(remove_unused(pruned).count, 0U);
  EXPECT_EQ(named(pruned, "outside"), nullptr);
  ASSERT_NE(named(pruned, "four_bits"), nullptr);
  const auto scales = named(pruned, "four_bits")->quantization->details.table->integer("scales");
  EXPECT_EQ(pruned.subgraphs[0].tensors[static_cast<std::size_t>(scales)].name, "scales");
  read_model_from_memory(to_bytes(pruned), "m");  // every number is in range
}

TEST(TfliteRemoveUnused, NothingIsNumberedAgainWhereNumbersAreUnknown) {
  TfliteBuilder model;
  const auto gone = model.weights("gone", {1}, {7}), x = model.tensor("x", {1});
  model.inputs({x}).outputs({x});
  model.model.subgraphs[0].carried = {{30, Bytes("\1\0\0\0", 4)}};
  Model pruned = model.model;
  remove_unused(pruned);
  EXPECT_EQ(pruned.subgraphs[0].tensors.size(), 2U);
  EXPECT_EQ(pruned.buffers.size(), 2U);
  EXPECT_TRUE(data_of(pruned, pruned.subgraphs[0].tensors[static_cast<std::size_t>(gone)]).empty());
  EXPECT_TRUE(pruned.buffers[1].data.empty());
}

TEST(TfliteRemoveUnused, TheBuffersOfMetadataStay) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1});
  model.weights("gone", {1}, {7});
  model.inputs({x}).outputs({x}).metadata("a", "text");
  model.model.metadata_buffer = {2};
  Model pruned = model.model;
  remove_unused(pruned);
  EXPECT_EQ(pruned.buffers.size(), 2U);
  EXPECT_EQ(pruned.metadata[0].buffer, 1U);
  EXPECT_THAT(pruned.metadata_buffer, ElementsAre(1));
}

}  // namespace
}  // namespace ounce::tflite
