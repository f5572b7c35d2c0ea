#include "formats/tflite/prepare/absorb_padding.h"

#include <gmock/gmock.h>

#include "formats/tflite/prepare/remove_unused.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

struct TfliteAbsorbPadding : testing::Test {
  // A convolution with a kernel of 3 and a stride over 4×6 values that are padded first.
  TfliteBuilder padded(std::vector<std::int32_t> amounts, std::int64_t stride,
                       Builtin code = Builtin::kConv2D) {
    TfliteBuilder model;
    const std::int32_t rows = 4 + amounts[2] + amounts[3], columns = 6 + amounts[4] + amounts[5];
    const auto step = static_cast<std::int32_t>(stride);
    const auto x = model.tensor("x", {1, 4, 6, 1}), p = model.tensor("p", {1, rows, columns, 1}),
               y = model.tensor("y", {1, (rows - 3) / step + 1, (columns - 3) / step + 1, 1});
    model.op(Builtin::kPad, {x, model.integers("amounts", {4, 2}, amounts)}, {p}, "PadOptions");
    model.op(code, {p, model.weights("w", {1, 3, 3, 1}, std::vector<float>(9, 1)), -1}, {y},
             code == Builtin::kConv2D ? "Conv2DOptions" : "DepthwiseConv2DOptions");
    for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, stride);
    model.options().set("padding", std::int64_t{1});
    model.inputs({x}).outputs({y});
    return model;
  }
  std::string absorbed(const TfliteBuilder& model) {
    Model changed = model.model;
    const std::size_t count = absorb_padding(changed).count;
    if (count == 0) {
      EXPECT_TRUE(same_content(changed, model.model));
      return {};
    }
    remove_unused(changed);
    return text_of(changed);
  }
  // 3 values become 3 · 2, the middle of the 2 · 2 + 4 of VALID.
  TfliteBuilder sliced(std::int32_t begin = 1, std::int32_t width = 6) {
    TfliteBuilder model;
    const auto x = model.tensor("x", {1, 1, 3, 1}), t = model.tensor("t", {1, 1, 8, 2}),
               y = model.tensor("y", {1, 1, width, 2});
    model.op(Builtin::kTransposeConv,
             {model.integers("shape", {4}, {1, 1, 8, 2}),
              model.weights("w", {2, 1, 4, 1}, std::vector<float>(8, 1)), x},
             {t}, "TransposeConvOptions");
    model.options().set("padding", std::int64_t{1});
    model.options().set("stride_w", std::int64_t{2});
    model.options().set("stride_h", std::int64_t{1});
    model.op(
        Builtin::kStridedSlice,
        {t, model.integers("begin", {4}, {0, 0, begin, 0}),
         model.integers("end", {4}, {1, 1, begin + width, 2}), model.integers("step", {4}, {1, 1, 1, 1})},
        {y}, "StridedSliceOptions");
    model.inputs({x}).outputs({y});
    return model;
  }
};

TEST_F(TfliteAbsorbPadding, PaddingThatIsSameIsDoneByTheConvolution) {
  EXPECT_EQ(absorbed(padded({0, 0, 1, 1, 1, 1, 0, 0}, 1)),
            "x -> y\nCONV_2D(x, w, -) stride_w=1 stride_h=1 -> y\n");
  EXPECT_EQ(absorbed(padded({0, 0, 0, 1, 0, 1, 0, 0}, 2)),
            "x -> y\nCONV_2D(x, w, -) stride_w=2 stride_h=2 -> y\n");
  EXPECT_EQ(absorbed(padded({0, 0, 1, 1, 1, 1, 0, 0}, 1, Builtin::kDepthwiseConv2D)),
            "x -> y\nDEPTHWISE_CONV_2D(x, w, -) stride_w=1 stride_h=1 -> y\n");
}

TEST_F(TfliteAbsorbPadding, OtherPaddingIsLeft) {
  EXPECT_EQ(absorbed(padded({0, 0, 1, 1, 1, 1, 0, 0}, 2)), "");  // SAME pads behind alone
  EXPECT_EQ(absorbed(padded({0, 0, 2, 2, 1, 1, 0, 0}, 1)), "");
  EXPECT_EQ(absorbed(padded({0, 0, 1, 1, 0, 2, 0, 0}, 1)), "");
  auto in_channels = padded({0, 0, 1, 1, 1, 1, 0, 0}, 1);
  in_channels.model.buffers[1].data =
      Data(std::string(16, '\0') + std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(absorbed(in_channels), "");
  auto dynamic = padded({0, 0, 1, 1, 1, 1, 0, 0}, 1);
  dynamic.model.subgraphs[0].tensors[0].shape_signature = {1, -1, 6, 1};
  EXPECT_EQ(absorbed(dynamic), "");
}

TEST_F(TfliteAbsorbPadding, WhatOthersTakeIsPaddedForThem) {
  auto model = padded({0, 0, 1, 1, 1, 1, 0, 0}, 1);
  const auto z = model.tensor("z", {1, 6, 8, 1});
  model.op(Builtin::kAbs, {1}, {z});
  model.graph().outputs.push_back(z);
  EXPECT_EQ(absorbed(model),
            "x -> y, z\n"
            "PAD(x, amounts) -> p\n"
            "CONV_2D(x, w, -) stride_w=1 stride_h=1 -> y\n"
            "ABS(p) -> z\n");
}

TEST_F(TfliteAbsorbPadding, ASliceThatIsSameIsDoneByTheTransposedConvolution) {
  EXPECT_EQ(absorbed(sliced()), "x -> y\nTRANSPOSE_CONV(y_shape, w, x) stride_w=2 stride_h=1 -> y\n");
}

TEST_F(TfliteAbsorbPadding, OtherSlicesAreLeft) {
  EXPECT_EQ(absorbed(sliced(0)), "");
  EXPECT_EQ(absorbed(sliced(1, 4)), "");
  auto stepped = sliced();
  stepped.model.subgraphs[0].operators[1].inputs[3] = stepped.integers("two", {4}, {1, 1, 2, 1});
  EXPECT_EQ(absorbed(stepped), "");
  auto activated = sliced();
  activated.model.subgraphs[0].operators[0].options.table->set("fused_activation_function", std::int64_t{1});
  EXPECT_EQ(absorbed(activated), "");
  auto used = sliced();
  used.graph().outputs.push_back(1);
  EXPECT_EQ(absorbed(used), "");
}

}  // namespace
}  // namespace ounce::tflite
