#include "formats/tflite/prepare/fold_constants.h"

#include <gmock/gmock.h>

#include "formats/tflite/prepare/remove_unused.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

using testing::HasSubstr;

struct TfliteFoldConstants : testing::Test {
  TfliteBuilder model;
  // y = x + what the operators before it gave; without x where that is no float.
  std::string folded(std::int32_t result) {
    model.outputs({consume(result)});
    Model changed = model.model;
    fold_constants(changed);
    remove_unused(changed);
    std::string constants = constants_of(changed);
    return constants.substr(0, constants.find('\n'));
  }
  std::int32_t consume(std::int32_t result) {
    const auto& tensor = model.graph().tensors[static_cast<std::size_t>(result)];
    const auto y = model.tensor("y", tensor.shape, tensor.type);
    model.op(Builtin::kAbs, {result}, {y});
    return y;
  }
  void expect_unchanged(std::int32_t result) {
    model.outputs({consume(result)});
    Model changed = model.model;
    EXPECT_EQ(fold_constants(changed).count, 0U);
    EXPECT_TRUE(same_content(changed, model.model));
  }
  TfliteBuilder::Shape shape_of(std::int32_t tensor) {
    return model.graph().tensors[static_cast<std::size_t>(tensor)].shape;
  }
  std::int32_t integers(TfliteBuilder::Shape shape, const std::vector<std::int32_t>& values) {
    return model.integers("i", std::move(shape), values);
  }
  std::int32_t result(TfliteBuilder::Shape shape, TensorType type = TensorType::kInt32) {
    return model.tensor("r", std::move(shape), type);
  }
};

TEST_F(TfliteFoldConstants, ShapesOfStaticTensorsAreComputedToTheEnd) {
  const auto x = model.tensor("x", {1, 64, 128}), s = model.tensor("s", {3}, TensorType::kInt32),
             r = result({2});
  model.op(Builtin::kShape, {x}, {s}, "ShapeOptions");
  model.op(Builtin::kGather, {s, integers({2}, {2, 0})}, {r}, "GatherOptions");
  model.inputs({x});
  EXPECT_EQ(folded(r), "r int32[2] = 128 1");
}

TEST_F(TfliteFoldConstants, ValuesAreMoved) {
  const auto matrix = integers({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto t = result({3, 2});
  model.op(Builtin::kTranspose, {matrix, integers({2}, {1, 0})}, {t});
  EXPECT_EQ(folded(t), "r int32[3,2] = 1 4 2 5 3 6");
  const auto s = result({1, 2});
  model.op(Builtin::kSlice, {matrix, integers({2}, {1, 1}), integers({2}, {-1, 2})}, {s});
  EXPECT_EQ(folded(s), "r int32[1,2] = 5 6");
  const auto e = result({1, 2, 3});
  model.op(Builtin::kExpandDims, {matrix, integers({1}, {0})}, {e});
  EXPECT_EQ(folded(e), "r int32[1,2,3] = 1 2 3 4 5 6");
}

TEST_F(TfliteFoldConstants, SlicesHaveStepsAndMasks) {
  const auto matrix = integers({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto backwards = result({2, 2});
  const auto begin = integers({2}, {0, 3}), end = integers({2}, {2, -5}), step = integers({2}, {1, -2});
  model.op(Builtin::kStridedSlice, {matrix, begin, end, step}, {backwards}, "StridedSliceOptions");
  EXPECT_EQ(folded(backwards), "r int32[2,2] = 4 2 8 6");
  const auto row = result({4});
  model.op(Builtin::kStridedSlice, {matrix, integers({1}, {-1}), integers({1}, {0}), integers({1}, {1})},
           {row}, "StridedSliceOptions");
  model.options().set("shrink_axis_mask", std::int64_t{1});
  EXPECT_EQ(folded(row), "r int32[4] = 5 6 7 8");
  const auto all = result({2, 4});
  model.op(Builtin::kStridedSlice, {matrix, begin, end, integers({2}, {1, 1})}, {all}, "StridedSliceOptions");
  model.options().set("begin_mask", std::int64_t{3});
  model.options().set("end_mask", std::int64_t{3});
  EXPECT_EQ(folded(all), "r int32[2,4] = 1 2 3 4 5 6 7 8");
}

TEST_F(TfliteFoldConstants, ValuesArePutTogether) {
  const auto a = integers({2}, {1, 2}), b = integers({2}, {3, 4});
  const auto columns = result({2, 2}), line = result({4});
  model.op(Builtin::kPack, {a, b}, {columns}, "PackOptions");
  model.options().set("axis", std::int64_t{1});
  EXPECT_EQ(folded(columns), "r int32[2,2] = 1 3 2 4");
  model.op(Builtin::kConcatenation, {b, a}, {line}, "ConcatenationOptions");
  EXPECT_EQ(folded(line), "r int32[4] = 3 4 1 2");
}

TEST_F(TfliteFoldConstants, IntegersAreComputedWith) {
  const auto a = integers({2, 1}, {6, 7}), b = integers({2}, {2, 3});
  const std::vector<std::pair<Builtin, std::string>> ops = {
      {Builtin::kAdd, "8 9 9 10"},    {Builtin::kSub, "4 3 5 4"},     {Builtin::kMul, "12 18 14 21"},
      {Builtin::kMinimum, "2 3 2 3"}, {Builtin::kMaximum, "6 6 7 7"},
  };
  for (const auto& [op, values] : ops) {
    const auto r = result({2, 2});
    model.op(op, {a, b}, {r});
    EXPECT_EQ(folded(r), "r int32[2,2] = " + values);
  }
  const auto p = result({});
  model.op(Builtin::kReduceProd, {b, integers({1}, {0})}, {p}, "ReducerOptions");
  EXPECT_EQ(folded(p), "r int32[] = 6");
  const auto wide = result({2}, TensorType::kInt64);
  model.op(Builtin::kCast, {b}, {wide}, "CastOptions");
  EXPECT_EQ(folded(wide), "r int64[2] = 2 3");
  const auto real = result({2}, TensorType::kFloat32);
  model.op(Builtin::kCast, {b}, {real}, "CastOptions");
  EXPECT_EQ(folded(real), "r float32[2] = 2 3");
}

TEST_F(TfliteFoldConstants, TheShapeOfADynamicInputIsLeft) {
  const auto x = model.tensor("x", {1, 64});
  model.graph().tensors.back().shape_signature = {-1, 64};
  const auto r = result({2});
  model.op(Builtin::kShape, {x}, {r}, "ShapeOptions");
  model.inputs({x});
  expect_unchanged(r);
}

TEST_F(TfliteFoldConstants, TheShapeOfWhatComputedIntegersDecideOnIsLeft) {
  const auto x = model.tensor("x", {6}), sizes = model.tensor("sizes", {2}, TensorType::kInt32),
             reshaped = model.tensor("reshaped", {2, 3}), r = result({2});
  model.op(Builtin::kReshape, {x, sizes}, {reshaped});
  model.op(Builtin::kShape, {reshaped}, {r}, "ShapeOptions");
  model.inputs({x, sizes});
  expect_unchanged(r);
}

TEST_F(TfliteFoldConstants, TheShapesInAGraphThatOthersRunAreLeft) {
  const auto flag = model.tensor("flag", {}, TensorType::kBool), x = model.tensor("x", {1, 4}),
             z = model.tensor("z", {2}, TensorType::kInt32);
  model.op(Builtin::kIf, {flag, x}, {z}, "IfOptions");
  for (const char* field : {"then_subgraph_index", "else_subgraph_index"})
    model.options().set(field, std::int64_t{1});
  model.inputs({flag, x}).outputs({z});
  model.subgraph("body");
  const auto a = model.tensor("a", {1, 4}), s = model.tensor("s", {2}, TensorType::kInt32);
  model.op(Builtin::kShape, {a}, {s}, "ShapeOptions");
  model.inputs({a});
  expect_unchanged(s);
}

TEST_F(TfliteFoldConstants, WhatDoesNotFitIsLeftToTheRuntime) {
  const auto a = integers({2}, {1, 5});
  const auto out_of_range = result({2});
  model.op(Builtin::kGather, {a, a}, {out_of_range}, "GatherOptions");
  expect_unchanged(out_of_range);
  model.graph().operators.clear();
  const auto other_shape = result({3});
  model.op(Builtin::kAdd, {a, a}, {other_shape}, "AddOptions");
  expect_unchanged(other_shape);
  model.graph().operators.clear();
  const auto not_an_order = result({2});
  model.op(Builtin::kTranspose, {a, integers({2}, {0, 0})}, {not_an_order});
  expect_unchanged(not_an_order);
  model.graph().operators.clear();
  const auto step = result({2});
  model.op(Builtin::kStridedSlice, {a, integers({1}, {0}), integers({1}, {2}), integers({1}, {0})}, {step},
           "StridedSliceOptions");
  expect_unchanged(step);
}

TEST_F(TfliteFoldConstants, AnOutputStaysComputed) {
  const auto a = integers({2}, {1, 5});
  const auto r = result({2});
  model.op(Builtin::kAdd, {a, a}, {r}, "AddOptions");
  model.outputs({r});
  Model changed = model.model;
  EXPECT_EQ(fold_constants(changed).count, 0U);
}

TEST_F(TfliteFoldConstants, ManyFormsOfALargeConstantAreNotMade) {
  // 64 KiB that stand for 64 times as much.
  const auto a = model.weights("a", {128, 128}, std::vector<float>(16384)), order = integers({2}, {1, 0});
  for (int i = 0; i < 64; ++i) {
    const auto t = model.tensor("t", {128, 128});
    model.op(Builtin::kTranspose, {a, order}, {t});
    model.graph().outputs.push_back(consume(t));
  }
  Model changed = model.model;
  EXPECT_LT(fold_constants(changed).count, 40U);
}

}  // namespace
}  // namespace ounce::tflite
