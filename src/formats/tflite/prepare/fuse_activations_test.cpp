#include "formats/tflite/prepare/fuse_activations.h"

#include <gmock/gmock.h>

#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

struct TfliteFuseActivations : testing::Test {
  TfliteBuilder model;
  std::int32_t x = model.tensor("x", {1, 2, 2, 2}), c = model.tensor("c", {1, 2, 2, 2}),
               y = model.tensor("y", {1, 2, 2, 2});

  void conv(std::int64_t activation = 0) {
    const auto w = model.weights("w", {2, 1, 1, 2}, {1, -1, 2, -2});
    model.op(Builtin::kConv2D, {x, w, -1}, {c}, "Conv2DOptions");
    model.options().set("fused_activation_function", activation);
  }
  void end(Builtin activation) {
    model.op(activation, {c}, {y});
    model.inputs({x}).outputs({y});
  }
  std::string fused() {
    Model changed = model.model;
    fuse_activations(changed);
    return text_of(changed);
  }
  void expect_unchanged() {
    Model changed = model.model;
    EXPECT_EQ(fuse_activations(changed).count, 0U);
    EXPECT_TRUE(same_content(changed, model.model));
  }
};

TEST_F(TfliteFuseActivations, AConvolutionTakesTheActivationBehindIt) {
  conv();
  end(Builtin::kRelu6);
  EXPECT_EQ(fused(), "x -> y\nCONV_2D(x, w, -) fused_activation_function=3 -> y\n");
}

TEST_F(TfliteFuseActivations, EveryProducerOfTheListHasTheField) {
  const std::vector<std::tuple<Builtin, const char*, std::string>> producers = {
      {Builtin::kDepthwiseConv2D, "DepthwiseConv2DOptions", "DEPTHWISE_CONV_2D"},
      {Builtin::kFullyConnected, "FullyConnectedOptions", "FULLY_CONNECTED"},
      {Builtin::kTransposeConv, "TransposeConvOptions", "TRANSPOSE_CONV.4"},
      {Builtin::kAdd, "AddOptions", "ADD"},
      {Builtin::kSub, "SubOptions", "SUB"},
      {Builtin::kMul, "MulOptions", "MUL"},
      {Builtin::kDiv, "DivOptions", "DIV"},
      {Builtin::kAveragePool2D, "Pool2DOptions", "AVERAGE_POOL_2D"},
      {Builtin::kMaxPool2D, "Pool2DOptions", "MAX_POOL_2D"}};
  for (const auto& [code, options, name] : producers) {
    model.graph().operators.clear();
    model.op(code, {x, x}, {c}, options);
    end(Builtin::kReluN1To1);
    EXPECT_EQ(fused(), "x -> y\n" + name + "(x, x) fused_activation_function=2 -> y\n");
  }
}

TEST_F(TfliteFuseActivations, OperatorsThatOnlyMoveValuesAreSeenThrough) {
  conv();
  const auto order = model.integers("order", {4}, {0, 3, 1, 2}), shape = model.integers("shape", {2}, {2, 4}),
             t = model.tensor("t", {1, 2, 2, 2}), r = model.tensor("r", {2, 4}),
             z = model.tensor("z", {2, 4});
  model.op(Builtin::kTranspose, {c, order}, {t});
  model.op(Builtin::kReshape, {t, shape}, {r});
  model.op(Builtin::kRelu, {r}, {z});
  model.inputs({x}).outputs({z});
  EXPECT_EQ(fused(),
            "x -> z\n"
            "CONV_2D(x, w, -) fused_activation_function=1 -> c\n"
            "TRANSPOSE(c, order) -> t\n"
            "RESHAPE(t, shape) -> z\n");
}

TEST_F(TfliteFuseActivations, TwoActivationsBecomeOneWhereThereIsOne) {
  conv(1);
  end(Builtin::kRelu6);
  EXPECT_EQ(fused(), "x -> y\nCONV_2D(x, w, -) fused_activation_function=3 -> y\n");
  model.graph().operators[0].options.table->set("fused_activation_function", std::int64_t{2});  // -1 … 1
  expect_unchanged();
  model.graph().operators[0].options.table->set("fused_activation_function", std::int64_t{4});  // TANH
  expect_unchanged();
}

TEST_F(TfliteFuseActivations, AValueThatOthersUseKeepsItsRange) {
  conv();
  end(Builtin::kRelu);
  const auto again = model.tensor("again", {1, 2, 2, 2});
  model.op(Builtin::kAbs, {c}, {again});
  model.outputs({y, again});
  expect_unchanged();
}

TEST_F(TfliteFuseActivations, AnOutputKeepsItsRange) {
  conv();
  end(Builtin::kRelu);
  model.outputs({y, c});
  expect_unchanged();
}

TEST_F(TfliteFuseActivations, AValueThatASignatureNamesKeepsItsRange) {
  conv();
  end(Builtin::kRelu);
  model.signature("serving_default");
  TensorMap& map = model.model.signatures[0].outputs.emplace_back();
  map.name = "features";
  map.tensor = static_cast<std::uint32_t>(c);
  expect_unchanged();
}

TEST_F(TfliteFuseActivations, OtherActivationsProducersAndTypesAreLeft) {
  conv();
  end(Builtin::kTanh);
  expect_unchanged();
  model.graph().operators.clear();
  model.op(Builtin::kAbs, {x}, {c});
  end(Builtin::kRelu);
  expect_unchanged();
  model.graph().operators.clear();
  conv();
  end(Builtin::kRelu);
  model.graph().operators[0].options = {};  // the runtime's defaults, or an error of the runtime
  expect_unchanged();
  model.graph().operators.clear();
  conv();
  end(Builtin::kRelu);
  for (Tensor& tensor : model.graph().tensors) {
    if (tensor.name != "w") tensor.type = TensorType::kInt8;
  }
  expect_unchanged();
}

TEST_F(TfliteFuseActivations, AnActivationOfAnInputIsLeft) {
  model.op(Builtin::kRelu, {x}, {y});
  model.inputs({x}).outputs({y});
  expect_unchanged();
}

TEST_F(TfliteFuseActivations, SubgraphsAreRewrittenToo) {
  model.inputs({x}).outputs({x});
  model.subgraph("body");
  const auto a = model.tensor("a", {1}), b = model.tensor("b", {1}), d = model.tensor("d", {1});
  model.op(Builtin::kAdd, {a, a}, {b}, "AddOptions");
  model.op(Builtin::kRelu, {b}, {d});
  model.inputs({a}).outputs({d});
  EXPECT_EQ(fused(), "x -> x\na -> d\nADD(a, a) fused_activation_function=1 -> d\n");
}

}  // namespace
}  // namespace ounce::tflite
