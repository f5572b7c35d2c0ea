#include "formats/tflite/prepare/fold_halves.h"

#include <gmock/gmock.h>

#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"
#include "formats/tflite/prepare/densify_weights.h"
#include "formats/tflite/prepare/remove_unused.h"
#include "fuzz/sample_tflites.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// 1, -2, 0.5, 65504 and the smallest positive number, as FP16.
const std::string kHalves("\x00\x3c\x00\xc0\x00\x38\xff\x7b\x01\x00", 10);

struct TfliteFoldHalves : testing::Test {
  TfliteBuilder model;
  std::int32_t x = model.tensor("x", {1, 5}), y = model.tensor("y", {1, 5});
  std::int32_t halves = model.constant("halves", {5}, TensorType::kFloat16, kHalves);
  std::int32_t floats = model.tensor("floats", {5});

  void convert_and_add(Builtin convert) {
    model.op(convert, {halves}, {floats});
    model.op(Builtin::kAdd, {x, floats}, {y}, "AddOptions");
    model.inputs({x}).outputs({y});
  }
};

TEST_F(TfliteFoldHalves, AConstantBehindDequantizeOrCastIsAnFp32Constant) {
  for (const Builtin convert : {Builtin::kDequantize, Builtin::kCast}) {
    SCOPED_TRACE(static_cast<int>(convert));
    TfliteFoldHalves::model.graph().operators.clear();
    convert_and_add(convert);
    Model folded = model.model;
    EXPECT_EQ(fold_halves(folded).count, 1U);
    remove_unused(folded);
    EXPECT_EQ(text_of(folded), "x -> y\nADD(x, floats) -> y\n");
    const std::string constants = "floats float32[5] = 1 -2 0.5 65504 5.9604645e-08\n";
    EXPECT_EQ(constants_of(folded), constants);
    // Written and read again, the values are those of the file.
    EXPECT_EQ(constants_of(read_model_from_memory(to_bytes(folded), "m")), constants);
  }
}

TEST_F(TfliteFoldHalves, TensorsThatShareABufferShareTheNewOne) {
  convert_and_add(Builtin::kDequantize);
  const auto z = model.tensor("z", {5}), twin = model.tensor("twin", {5}, TensorType::kFloat16);
  auto& tensors = model.graph().tensors;
  tensors[static_cast<std::size_t>(twin)].buffer = tensors[static_cast<std::size_t>(halves)].buffer;
  model.op(Builtin::kDequantize, {twin}, {z});
  model.graph().outputs = {y};
  model.op(Builtin::kAdd, {y, z}, {model.tensor("sum", {1, 5})}, "AddOptions");
  Model folded = model.model;
  EXPECT_EQ(fold_halves(folded).count, 2U);
  EXPECT_EQ(data_of(folded, folded.subgraphs[0].tensors[static_cast<std::size_t>(z)]),
            data_of(folded, folded.subgraphs[0].tensors[static_cast<std::size_t>(floats)]));
}

TEST_F(TfliteFoldHalves, BuffersAtOnePlaceInTheFileStayOnePlace) {
  convert_and_add(Builtin::kDequantize);
  const auto z = model.tensor("z", {5}), sum = model.tensor("sum", {1, 5}),
             equal = model.constant("equal", {5}, TensorType::kFloat16, kHalves);
  model.op(Builtin::kDequantize, {equal}, {z});
  model.op(Builtin::kAdd, {y, z}, {sum}, "AddOptions");
  model.outputs({sum});
  Model folded = read_model_from_memory(to_bytes(model.model), "m");  // equal buffers share their place
  EXPECT_EQ(fold_halves(folded).count, 2U);
  remove_unused(folded);
  const std::string bytes = to_bytes(folded);
  EXPECT_EQ(to_bytes(read_model_from_memory(bytes, "m")), bytes);
}

TEST_F(TfliteFoldHalves, SparseHalvesAreMadeDenseBefore) {
  Model sample = everything_tflite();
  // Its sparse matrix, as FP16.
  for (Tensor& tensor : sample.subgraphs[0].tensors) {
    if (tensor.name == "sparse") {
      tensor.type = TensorType::kFloat16;
      sample.buffers[tensor.buffer].data = Data(std::string(16, '\x3c'));
    }
    if (tensor.name == "dense") tensor.type = TensorType::kFloat16;
  }
  Tensor floats_tensor;
  floats_tensor.name = "dense_floats";
  floats_tensor.shape = {4, 4};
  SubGraph& graph = sample.subgraphs[0];
  graph.tensors.push_back(floats_tensor);
  const auto dense = graph.outputs[1], wide = static_cast<std::int32_t>(graph.tensors.size() - 1);
  Operator convert;
  convert.opcode_index = static_cast<std::uint32_t>(sample.operator_codes.size());
  sample.operator_codes.emplace_back().code = static_cast<std::int32_t>(Builtin::kDequantize);
  convert.inputs = {dense};
  convert.outputs = {wide};
  graph.operators.push_back(convert);
  Changes changes = densify_weights(sample);  // its output is one of the model
  EXPECT_EQ(changes.count, 0U);
  EXPECT_THAT(changes.left, testing::SizeIs(1));
  changes = fold_halves(sample);
  EXPECT_EQ(changes.count, 0U);
  EXPECT_THAT(changes.left, testing::SizeIs(1));
  graph.outputs.erase(graph.outputs.begin() + 1);
  sample.signatures.clear();
  EXPECT_EQ(densify_weights(sample).count, 1U);
  EXPECT_EQ(fold_halves(sample).count, 1U);
  EXPECT_THAT(constants_of(sample), HasSubstr("dense_floats float32[4,4] = 0 0 1.0"));
}

TEST_F(TfliteFoldHalves, WhatIsNotAnInnerConstantIsLeft) {
  convert_and_add(Builtin::kDequantize);
  const auto unchanged = [&](const Model& before) {
    Model folded = before;
    EXPECT_EQ(fold_halves(folded).count, 0U);
    EXPECT_TRUE(same_content(folded, before));
  };
  Model output = model.model;
  output.subgraphs[0].outputs.push_back(floats);
  unchanged(output);
  Model other_shape = model.model;
  other_shape.subgraphs[0].tensors[static_cast<std::size_t>(floats)].shape = {1, 5};
  unchanged(other_shape);
  Model computed = model.model;
  computed.subgraphs[0].inputs.push_back(halves);
  unchanged(computed);
  Model integers = model.model;
  integers.subgraphs[0].tensors[static_cast<std::size_t>(halves)].type = TensorType::kInt16;
  unchanged(integers);
}

}  // namespace
}  // namespace ounce::tflite
