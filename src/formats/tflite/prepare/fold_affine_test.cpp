#include "formats/tflite/prepare/fold_affine.h"

#include <gmock/gmock.h>

#include <limits>

#include "formats/tflite/prepare/matmul_to_fully_connected.h"
#include "formats/tflite/prepare/remove_unused.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

struct TfliteFoldAffine : testing::Test {
  TfliteBuilder model;
  std::int32_t x = model.tensor("x", {1, 1, 1, 2}), c = model.tensor("c", {1, 1, 1, 2}),
               d = model.tensor("d", {1, 1, 1, 2}), y = model.tensor("y", {1, 1, 1, 2});

  void conv(bool has_bias = true) {
    const auto w = model.weights("w", {2, 1, 1, 2}, {1, -1, 2, -2});
    const auto b = has_bias ? model.weights("b", {2}, {10, 20}) : -1;
    model.op(Builtin::kConv2D, {x, w, b}, {c}, "Conv2DOptions");
    model.inputs({x}).outputs({y});
  }
  std::string folded() {
    Model changed = model.model;
    fold_affine(changed);
    remove_unused(changed);
    return text_of(changed) + constants_of(changed);
  }
  void expect_unchanged() {
    Model changed = model.model;
    EXPECT_EQ(fold_affine(changed).count, 0U);
    EXPECT_TRUE(same_content(changed, model.model));
  }
};

TEST_F(TfliteFoldAffine, ANormalisationGoesIntoWeightAndBias) {
  conv();
  model.op(Builtin::kMul, {c, model.weights("s", {2}, {3, -0.5F})}, {d}, "MulOptions");
  model.op(Builtin::kAdd, {model.weights("t", {1, 1, 1, 2}, {1, 2}), d}, {y}, "AddOptions");
  model.options().set("fused_activation_function", std::int64_t{1});
  EXPECT_EQ(folded(),
            "x -> y\n"
            "CONV_2D(x, y_weight, y_bias) fused_activation_function=1 -> y\n"
            "y_bias float32[2] = 31 -8\n"
            "y_weight float32[2,1,1,2] = 3 -3 -1 1\n");
}

TEST_F(TfliteFoldAffine, AnAdditionMakesABiasAndLeavesTheWeight) {
  conv(false);
  model.op(Builtin::kAdd, {c, model.weights("t", {1}, {4})}, {y}, "AddOptions");
  EXPECT_EQ(folded(),
            "x -> y\n"
            "CONV_2D(x, w, y_bias) -> y\n"
            "w float32[2,1,1,2] = 1 -1 2 -2\n"
            "y_bias float32[2] = 4 4\n");
}

TEST_F(TfliteFoldAffine, DifferencesAndQuotientsAreFoldedToo) {
  conv();
  model.op(Builtin::kSub, {model.weights("t", {2}, {1, 2}), c}, {d}, "SubOptions");
  model.op(Builtin::kDiv, {d, model.weights("s", {}, {2})}, {y}, "DivOptions");
  EXPECT_EQ(folded(),
            "x -> y\n"
            "CONV_2D(x, y_weight, y_bias) -> y\n"
            "y_bias float32[2] = -4.5 -9\n"
            "y_weight float32[2,1,1,2] = -0.5 0.5 -1 1\n");
}

TEST_F(TfliteFoldAffine, DepthwiseWeightsHaveTheirChannelsLast) {
  const auto w = model.weights("w", {1, 1, 2, 2}, {1, 2, 3, 4});
  model.op(Builtin::kDepthwiseConv2D, {x, w, -1}, {c}, "DepthwiseConv2DOptions");
  model.op(Builtin::kMul, {c, model.weights("s", {2}, {10, 100})}, {y}, "MulOptions");
  model.inputs({x}).outputs({y});
  EXPECT_THAT(folded(), testing::HasSubstr("y_weight float32[1,1,2,2] = 10 200 30 400\n"));
}

TEST_F(TfliteFoldAffine, ATransposedConvolutionGetsABiasAndAVersionThatHasOne) {
  const auto w = model.weights("w", {2, 1, 1, 2}, {1, 2, 3, 4}),
             shape = model.integers("shape", {4}, {1, 1, 1, 2});
  model.op(Builtin::kTransposeConv, {shape, w, x}, {c}, "TransposeConvOptions");
  model.op(Builtin::kAdd, {c, model.weights("t", {2}, {1, 2})}, {y}, "AddOptions");
  model.inputs({x}).outputs({y});
  EXPECT_THAT(folded(), testing::HasSubstr("TRANSPOSE_CONV.3(shape, w, x, y_bias) -> y\n"));
  model.options().set("fused_activation_function", std::int64_t{3});
  EXPECT_THAT(folded(),
              testing::HasSubstr("TRANSPOSE_CONV.4(shape, w, x, y_bias) fused_activation_function=3 -> y\n"));
}

TEST_F(TfliteFoldAffine, AMatrixProductWithAConstantGetsTheBias) {
  TfliteBuilder product;
  const auto a = product.tensor("a", {1, 2, 3}), b = product.tensor("b", {1, 2, 2}),
             e = product.tensor("e", {1, 2, 2});
  product.op(Builtin::kBatchMatmul, {a, product.weights("w", {3, 2}, {1, 2, 3, 4, 5, 6})}, {b},
             "BatchMatMulOptions");
  product.op(Builtin::kAdd, {product.weights("t", {2}, {7, 8}), b}, {e}, "AddOptions");
  product.inputs({a}).outputs({e});
  Model changed = product.model;
  EXPECT_EQ(matmul_to_fully_connected(changed).count, 1U);
  EXPECT_EQ(fold_affine(changed).count, 1U);
  remove_unused(changed);
  EXPECT_EQ(text_of(changed) + constants_of(changed),
            "a -> e\n"
            "FULLY_CONNECTED.5(a, w_transposed, e_bias) keep_num_dims=1 -> e\n"
            "w_transposed float32[2,3] = 1 3 5 2 4 6\n"
            "e_bias float32[2] = 7 8\n");
}

TEST_F(TfliteFoldAffine, WhatIsNotForEachChannelIsLeft) {
  conv();
  model.op(Builtin::kMul, {c, model.weights("s", {2, 1}, {3, 4})}, {y}, "MulOptions");
  expect_unchanged();
}

TEST_F(TfliteFoldAffine, AValueWithOtherUsersAndAnActivationInBetweenAreLeft) {
  conv();
  model.op(Builtin::kAdd, {c, model.weights("t", {2}, {1, 2})}, {y}, "AddOptions");
  model.graph().operators[0].options.table->set("fused_activation_function", std::int64_t{1});
  expect_unchanged();
  model.graph().operators[0].options.table->set("fused_activation_function", std::int64_t{0});
  model.outputs({y, c});
  expect_unchanged();
  model.outputs({y});
  model.op(Builtin::kAbs, {c}, {d});
  expect_unchanged();
}

TEST_F(TfliteFoldAffine, WhatOverflowsOrVanishesIsLeft) {
  for (const float factor : {3e38F, 1e-38F, 0.0F, std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()}) {
    model.graph().operators.clear();
    conv();
    model.op(Builtin::kMul, {c, model.weights("s", {}, {factor})}, {y}, "MulOptions");
    if (factor != 1e-38F) expect_unchanged();
    model.graph().operators[0].inputs[1] = model.weights("small", {2, 1, 1, 2}, {1e-3F, 1, 1, 1});
    expect_unchanged();
  }
}

TEST_F(TfliteFoldAffine, AComputedWeightIsLeft) {
  const auto w = model.tensor("w", {2, 1, 1, 2});
  model.op(Builtin::kConv2D, {x, w, -1}, {c}, "Conv2DOptions");
  model.op(Builtin::kMul, {c, model.weights("s", {}, {2})}, {y}, "MulOptions");
  model.inputs({x, w}).outputs({y});
  expect_unchanged();
}

struct TfliteMatmulToFullyConnected : testing::Test {
  TfliteBuilder model;
  std::int32_t a = model.tensor("a", {4, 3}), y = model.tensor("y", {4, 2});
  std::size_t rewritten(std::int32_t weight, const char* adjoint = nullptr) {
    model.graph().operators.clear();
    model.op(Builtin::kBatchMatmul, {a, weight}, {y}, "BatchMatMulOptions");
    if (adjoint != nullptr) model.options().set(adjoint, std::int64_t{1});
    model.inputs({a}).outputs({y});
    Model changed = model.model;
    const std::size_t count = matmul_to_fully_connected(changed).count;
    EXPECT_EQ(count == 0, same_content(changed, model.model));
    return count;
  }
};

TEST_F(TfliteMatmulToFullyConnected, ATransposedConstantIsTakenAsItIs) {
  EXPECT_EQ(rewritten(model.weights("w", {2, 3}, {1, 2, 3, 4, 5, 6}), "adj_y"), 1U);
  EXPECT_EQ(rewritten(model.weights("w", {3, 2}, {1, 2, 3, 4, 5, 6})), 1U);
}

TEST_F(TfliteMatmulToFullyConnected, OtherShapesAndOptionsAreLeft) {
  const auto w = model.weights("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(rewritten(w, "adj_x"), 0U);
  EXPECT_EQ(rewritten(model.weights("w", {2, 3}, {1, 2, 3, 4, 5, 6})), 0U);
  EXPECT_EQ(rewritten(model.weights("w", {1, 3, 2}, {1, 2, 3, 4, 5, 6})), 0U);  // more dimensions than a
  EXPECT_EQ(rewritten(model.tensor("w", {3, 2})), 0U);
  model.graph().tensors[static_cast<std::size_t>(a)].shape_signature = {4, -1};
  EXPECT_EQ(rewritten(w), 0U);
  model.graph().tensors[static_cast<std::size_t>(a)].shape_signature = {-1, 3};
  EXPECT_EQ(rewritten(w), 1U);
}

}  // namespace
}  // namespace ounce::tflite
