#include "formats/tflite/prepare/sink_layouts.h"

#include <gmock/gmock.h>

#include "formats/tflite/prepare/remove_unused.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

struct TfliteSinkLayouts : testing::Test {
  TfliteBuilder model;
  std::int32_t to_first = model.integers("to_first", {4}, {0, 3, 1, 2}),
               to_last = model.integers("to_last", {4}, {0, 2, 3, 1});

  // Channels last [1,1,5,3] to first, without the height: [1,3,5].
  std::int32_t first(std::int32_t from, const std::string& name) {
    const auto t = model.tensor(name + "_t", {1, 3, 1, 5}), r = model.tensor(name, {1, 3, 5});
    model.op(Builtin::kTranspose, {from, to_first}, {t}, "TransposeOptions");
    model.op(Builtin::kReshape, {t, model.integers("s", {3}, {1, 3, 5})}, {r}, "ReshapeOptions");
    return r;
  }
  std::int32_t last(std::int32_t from, const std::string& name) {
    const auto r = model.tensor(name + "_r", {1, 3, 1, 5}), t = model.tensor(name, {1, 1, 5, 3});
    model.op(Builtin::kReshape, {from, model.integers("s", {4}, {1, 3, 1, 5})}, {r}, "ReshapeOptions");
    model.op(Builtin::kTranspose, {r, to_last}, {t}, "TransposeOptions");
    return t;
  }
  std::int32_t pool(std::int32_t from, const std::string& name) {  // something that is no layout
    const auto y = model.tensor(name, {1, 1, 5, 3});
    model.op(Builtin::kSoftmax, {from}, {y});
    return y;
  }
  std::int32_t image(const std::string& name) { return model.tensor(name, {1, 1, 5, 3}); }
  std::string sunk() {
    Model changed = model.model;
    sink_layouts(changed);
    remove_unused(changed);
    return text_of(changed);
  }
  void expect_unchanged() {
    Model changed = model.model;
    EXPECT_EQ(sink_layouts(changed).count, 0U);
    EXPECT_TRUE(same_content(changed, model.model));
  }
};

TEST_F(TfliteSinkLayouts, LayoutsAroundAnOperatorOnSingleValuesCancel) {
  const auto x = image("x"), a = first(x, "a"), b = model.tensor("b", {1, 3, 5});
  model.op(Builtin::kLeakyRelu, {a}, {b}, "LeakyReluOptions");
  model.inputs({x}).outputs({pool(last(b, "c"), "y")});
  EXPECT_EQ(sunk(), "x -> y\nLEAKY_RELU(x) -> b\nSOFTMAX(b) -> y\n");
}

TEST_F(TfliteSinkLayouts, ASumOfValuesWithOneLayoutIsComputedBeforeIt) {
  const auto x = image("x"), z = image("z"), sum = model.tensor("sum", {1, 3, 5}),
             half = model.tensor("half", {1, 3, 5});
  model.op(Builtin::kAdd, {first(x, "a"), first(z, "b")}, {sum}, "AddOptions");
  model.op(Builtin::kMul, {sum, model.weights("number", {1}, {0.5F})}, {half}, "MulOptions");
  const auto others = model.tensor("others", {1, 3, 5});
  model.op(Builtin::kSoftmax, {half}, {others});  // along the last axis: it needs the layout
  model.inputs({x, z}).outputs({pool(last(half, "c"), "y"), others});
  EXPECT_EQ(sunk(),
            "x, z -> y, others\n"
            "ADD(x, z) -> sum\n"
            "MUL(sum, number) -> half_moved\n"
            "RESHAPE(half_moved, layout_1_5_3) -> half_moved_reshaped\n"
            "TRANSPOSE(half_moved_reshaped, layout_0_2_1) -> half\n"
            "SOFTMAX(half) -> others\n"
            "SOFTMAX(half_moved) -> y\n");
}

TEST_F(TfliteSinkLayouts, AReductionIsComputedBeforeTheLayout) {
  const auto x = image("x"), mean = model.tensor("mean", {1, 3}), y = model.tensor("y", {1, 3});
  model.op(Builtin::kMean, {first(x, "a"), model.integers("axes", {1}, {-1})}, {mean}, "ReducerOptions");
  model.op(Builtin::kSoftmax, {mean}, {y});
  model.inputs({x}).outputs({y});
  EXPECT_EQ(sunk(),
            "x -> y\n"
            "MEAN(x, layout_2) keep_dims=1 -> mean_moved\n"
            "RESHAPE(mean_moved, layout_1_3) -> mean\n"
            "SOFTMAX(mean) -> y\n");
}

TEST_F(TfliteSinkLayouts, ATransposeThatMovesNothingIsAReshape) {
  const auto x = model.tensor("x", {1, 5, 1}), t = model.tensor("t", {1, 1, 5}),
             r = model.tensor("r", {1, 1, 5, 1}), y = model.tensor("y", {1, 1, 5, 1});
  model.op(Builtin::kTranspose, {x, model.integers("p", {3}, {0, 2, 1})}, {t}, "TransposeOptions");
  model.op(Builtin::kReshape, {t, model.integers("s", {4}, {1, 1, 5, 1})}, {r}, "ReshapeOptions");
  model.op(Builtin::kSoftmax, {r}, {y});
  model.inputs({x}).outputs({y});
  EXPECT_EQ(sunk(), "x -> y\nRESHAPE(x, layout_1_1_5_1) -> r\nSOFTMAX(r) -> y\n");
}

TEST_F(TfliteSinkLayouts, LayoutsThatDoNotCancelStayAsTheyAre) {
  const auto x = image("x"), a = first(x, "a"), y = model.tensor("y", {1, 3, 5});
  model.op(Builtin::kSoftmax, {a}, {y});
  model.inputs({x}).outputs({y});
  expect_unchanged();
}

TEST_F(TfliteSinkLayouts, ASumOfDifferentLayoutsStaysAsItIs) {
  const auto x = image("x"), z = model.tensor("z", {1, 3, 5}), sum = model.tensor("sum", {1, 3, 5});
  model.op(Builtin::kAdd, {first(x, "a"), z}, {sum}, "AddOptions");
  model.inputs({x, z}).outputs({sum});
  expect_unchanged();
}

TEST_F(TfliteSinkLayouts, AnOutputIsComputedAsItWas) {
  const auto x = image("x"), a = first(x, "a"), b = model.tensor("b", {1, 3, 5});
  model.op(Builtin::kLeakyRelu, {a}, {b}, "LeakyReluOptions");
  model.inputs({x}).outputs({pool(last(b, "c"), "y"), b});
  expect_unchanged();
}

TEST_F(TfliteSinkLayouts, DynamicShapesAndOtherTypesAreLeft) {
  const auto x = image("x"), a = first(x, "a"), b = model.tensor("b", {1, 3, 5});
  model.op(Builtin::kLeakyRelu, {a}, {b}, "LeakyReluOptions");
  model.inputs({x}).outputs({pool(last(b, "c"), "y")});
  model.graph().tensors[static_cast<std::size_t>(x)].shape_signature = {-1, 1, 5, 3};
  expect_unchanged();
  model.graph().tensors[static_cast<std::size_t>(x)].shape_signature.clear();
  for (Tensor& tensor : model.graph().tensors) {
    if (tensor.type == TensorType::kFloat32) tensor.type = TensorType::kInt8;
  }
  expect_unchanged();
}

TEST_F(TfliteSinkLayouts, AShapeThatSplitsADimensionIsNoLayout) {
  const auto x = model.tensor("x", {2, 6}), r = model.tensor("r", {2, 2, 3}),
             e = model.tensor("e", {2, 2, 3}), back = model.tensor("back", {2, 6}),
             y = model.tensor("y", {2, 6});
  model.op(Builtin::kReshape, {x, model.integers("s", {3}, {2, 2, 3})}, {r}, "ReshapeOptions");
  model.op(Builtin::kExp, {r}, {e});
  model.op(Builtin::kReshape, {e, model.integers("s", {2}, {2, 6})}, {back}, "ReshapeOptions");
  model.op(Builtin::kSoftmax, {back}, {y});
  model.inputs({x}).outputs({y});
  expect_unchanged();
}

}  // namespace
}  // namespace ounce::tflite
