#include "formats/tflite/prepare/integer_forms.h"

#include <gmock/gmock.h>

#include "formats/tflite/prepare/remove_unused.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

struct TfliteIntegerForms : testing::Test {
  TfliteBuilder model;
  std::int32_t x = model.tensor("x", {1, 2, 3, 2}), y = model.tensor("y", {1, 2, 3, 2});

  std::string rewritten() {
    Model changed = model.model;
    const std::size_t count = make_integer_forms(changed).count;
    if (count == 0) {
      EXPECT_TRUE(same_content(changed, model.model));
      return {};
    }
    remove_unused(changed);
    return text_of(changed) + constants_of(changed);
  }
  std::string rewritten(Builtin code, TfliteBuilder::Tensors inputs, const char* options = "") {
    model.graph().operators.clear();
    model.op(code, std::move(inputs), {y}, options);
    model.inputs({x}).outputs({y});
    return rewritten();
  }
  std::string pool(std::int32_t from, std::int64_t height, std::int64_t width, std::int32_t to) {
    model.graph().operators.clear();
    model.op(Builtin::kAveragePool2D, {from}, {to}, "Pool2DOptions");
    model.options().set("filter_height", height);
    model.options().set("filter_width", width);
    for (const char* field : {"stride_w", "stride_h", "padding"}) model.options().set(field, std::int64_t{1});
    model.inputs({from}).outputs({to});
    return rewritten();
  }
};

TEST_F(TfliteIntegerForms, APoolOverTheWholeImageIsAMean) {
  const auto one = model.tensor("one", {1, 1, 1, 2});
  EXPECT_EQ(pool(x, 2, 3, one), "x -> one\nMEAN(x, one_axes) keep_dims=1 -> one\none_axes int32[2] = 1 2\n");
  EXPECT_EQ(pool(x, 2, 2, model.tensor("two", {1, 1, 2, 2})), "");
  pool(x, 2, 3, one);
  model.options().set("fused_activation_function", std::int64_t{1});
  EXPECT_EQ(rewritten(), "");
  model.options().set("fused_activation_function", std::int64_t{0});
  model.graph().tensors[static_cast<std::size_t>(x)].shape_signature = {1, -1, -1, 2};
  EXPECT_EQ(rewritten(), "");
}

TEST_F(TfliteIntegerForms, APreluWithOneSlopeIsALeakyRelu) {
  EXPECT_EQ(rewritten(Builtin::kPrelu, {x, model.weights("a", {1, 1, 2}, {0.25F, 0.25F})}),
            "x -> y\nLEAKY_RELU(x) alpha=0.25 -> y\n");
  EXPECT_EQ(rewritten(Builtin::kPrelu, {x, model.weights("a", {1, 1, 2}, {0, 0})}), "x -> y\nRELU(x) -> y\n");
  EXPECT_EQ(rewritten(Builtin::kPrelu, {x, model.weights("a", {1, 1, 2}, {0.25F, 0.5F})}), "");
  EXPECT_EQ(rewritten(Builtin::kPrelu, {x, model.weights("a", {1, 1, 2}, {-1, -1})}), "");
  EXPECT_EQ(rewritten(Builtin::kPrelu, {x, x}), "");
}

TEST_F(TfliteIntegerForms, ADivisionByAConstantIsAProduct) {
  EXPECT_EQ(rewritten(Builtin::kDiv, {x, model.weights("d", {2}, {4, -0.5F})}, "DivOptions"),
            "x -> y\nMUL(x, d_inverse) -> y\nd_inverse float32[2] = 0.25 -2\n");
  EXPECT_EQ(rewritten(Builtin::kDiv, {x, model.weights("d", {2}, {4, 0})}, "DivOptions"), "");
  EXPECT_EQ(rewritten(Builtin::kDiv, {x, model.weights("d", {}, {1e-39F})}, "DivOptions"), "");
  EXPECT_EQ(rewritten(Builtin::kDiv, {model.weights("d", {2}, {4, 2}), x}, "DivOptions"), "");
}

TEST_F(TfliteIntegerForms, DimensionsOfOneAreAddedAndDroppedByReshape) {
  const auto e = model.tensor("e", {1, 1, 2, 3, 2});
  model.op(Builtin::kExpandDims, {x, model.integers("axis", {1}, {0})}, {e}, "ExpandDimsOptions");
  model.op(Builtin::kSqueeze, {e}, {y}, "SqueezeOptions");
  model.inputs({x}).outputs({y});
  EXPECT_EQ(rewritten(),
            "x -> y\nRESHAPE(x, e_shape) -> e\nRESHAPE(e, y_shape) -> y\n"
            "e_shape int32[5] = 1 1 2 3 2\ny_shape int32[4] = 1 2 3 2\n");
  model.graph().tensors[static_cast<std::size_t>(x)].shape_signature = {-1, 2, 3, 2};
  EXPECT_EQ(rewritten(), "");
}

TEST_F(TfliteIntegerForms, BoundsOfReluAreActivations) {
  EXPECT_EQ(rewritten(Builtin::kMaximum, {model.weights("zero", {}, {0}), x}), "x -> y\nRELU(x) -> y\n");
  EXPECT_EQ(rewritten(Builtin::kMaximum, {x, model.weights("one", {}, {1})}), "");
  EXPECT_EQ(rewritten(Builtin::kMinimum, {x, model.weights("six", {}, {6})}), "");
  model.graph().operators.clear();
  const auto r = model.tensor("r", {1, 2, 3, 2});
  model.op(Builtin::kMaximum, {x, model.weights("zero", {1}, {0})}, {r});
  model.op(Builtin::kMinimum, {model.weights("six", {1}, {6}), r}, {y});
  EXPECT_EQ(rewritten(), "x -> y\nRELU6(x) -> y\n");
  model.graph().outputs.push_back(r);
  EXPECT_THAT(rewritten(), testing::HasSubstr("MINIMUM(six, r) -> y\n"));
}

}  // namespace
}  // namespace ounce::tflite
