// Rewrites of ops without an integer kernel: all must preserve the FP32 results.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "formats/onnx/emit/static_ops.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/prepare/integer_rewrites.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using test::expect_same_outputs;
using test::float_attribute;
using test::ints_attribute;
using test::ints_tensor;
using test::noise;
using test::string_attribute;
using test::text_of;
using testing::HasSubstr;
using testing::Not;

constexpr double kClose = 2e-6;

bool every(const onnx::Node&) { return true; }

std::vector<float> wide(const Dims& dims, std::uint32_t seed = 1) {
  std::vector<float> values = noise(dims, seed);
  for (float& value : values) value *= 4;  // so that outputs exceed -3 and 3
  return values;
}

// x ─ Conv ─ a ─ added nodes ─ b ─ Conv ─ y
template <class Add>
std::string between(Add add, std::int64_t opset = 17, const Dims& dims = {1, 3, 6, 5}) {
  ModelBuilder model(opset);
  const Dims weight = dims.size() == 4 ? Dims{4, 3, 1, 1} : Dims{4, 3, 1};
  const Dims last = dims.size() == 4 ? Dims{2, 4, 1, 1} : Dims{2, 4, 1};
  model.input("x", kFloat, dims).output("y", kFloat, Dims(dims.size(), -1));
  model.initializer("w", weight, wide(weight)).initializer("u", last, noise(last, 3));
  model.node("Conv", {"x", "w"}, {"a"});
  add(model);
  model.node("Conv", {"b", "u"}, {"y"});
  return model.bytes();
}

TEST(HardSwishRewrite, BecomesASumAndAProductWithLimits) {
  const std::string before = between([](ModelBuilder& model) { model.node("HardSwish", {"a"}, {"b"}); });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Conv(x, w) -> a\n"
                                        "Clip(a, q0) -> v0\n"
                                        "Mul(v0, q1) -> v1\n"
                                        "Add(v1, q2) -> v2\n"
                                        "Clip(v2, q3, q4) -> v3\n"
                                        "Mul(v0, v3) -> b\n"));
  expect_same_outputs(before, after, kClose);
}

TEST(HardSwishRewrite, AValueThatIsUsedElsewhereKeepsItsRange) {
  const std::string before = between([](ModelBuilder& model) {
    model.node("HardSwish", {"a"}, {"h"}).node("Add", {"h", "a"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Mul(a, q0) -> v0\n"));
  expect_same_outputs(before, after, kClose);
}

TEST(HardSwishRewrite, AProductWithAHardSigmoidIsOneToo) {
  const std::string before = between([](ModelBuilder& model) {
    model.node("HardSigmoid", {"a"}, {"h"}, {float_attribute("alpha", 1.0F / 6)})
        .node("Mul", {"a", "h"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Clip(a, q0) -> v0\n"));
  EXPECT_THAT(text_of(after), HasSubstr("Mul(v0, h) -> b\n"));
  expect_same_outputs(before, after, kClose);
}

TEST(HardSwishRewrite, AHardSigmoidAloneHasItsOwnSlope) {
  const std::string before = between([](ModelBuilder& model) { model.node("HardSigmoid", {"a"}, {"b"}); });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count, 1U);
  expect_same_outputs(before, after, kClose);
}

TEST(DivisionToProduct, WhatExportersSpellOutLosesItsDivision) {
  const std::string before = between([](ModelBuilder& model) {
    model.initializer("three", {}, {3}).initializer("zero", {}, {0}).initializer("six", {}, {6});
    model.node("Add", {"a", "three"}, {"s"}).node("Clip", {"s", "zero", "six"}, {"c"});
    model.node("Mul", {"a", "c"}, {"p"}).node("Div", {"p", "six"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(division_to_product(after).count, 1U);
  EXPECT_THAT(text_of(after), Not(HasSubstr("Div(")));
  expect_same_outputs(before, after, kClose);
}

TEST(DivisionToProduct, ByZeroStays) {
  const std::string before = between([](ModelBuilder& model) {
    model.initializer("zero", {}, {0}).node("Div", {"a", "zero"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(division_to_product(after).count, 0U);
}

TEST(HardSwishRewrite, IsMadeOnlyBetweenIntegerOps) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 4, 4}).output("y", kFloat, {1, 2, 4, 4}).output("z", kFloat, {1, 3, 4, 4});
  model.initializer("w", {2, 3, 1, 1}, noise({2, 3, 1, 1}));
  model.node("HardSwish", {"x"}, {"z"}).node("Conv", {"x", "w"}, {"a"}).node("HardSigmoid", {"a"}, {"y"});
  onnx::Model after = read(model.bytes());
  EXPECT_EQ(rewrite_hard_swish(after).count, 0U);
}

TEST(TanhToSigmoid, GivesTheSame) {
  const std::string before = between([](ModelBuilder& model) { model.node("Tanh", {"a"}, {"b"}); });
  onnx::Model after = read(before);
  EXPECT_EQ(tanh_to_sigmoid(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Mul(a, q0) -> v0\n"
                                        "Sigmoid(v0) -> v1\n"
                                        "Mul(v1, q0) -> v2\n"
                                        "Add(v2, q1) -> b\n"));
  expect_same_outputs(before, after, kClose);
}

TEST(TanhToSigmoid, TheLastOneOfAModelStays) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 4, 4}).output("y", kFloat, {1, 2, 4, 4});
  model.initializer("w", {2, 3, 1, 1}, noise({2, 3, 1, 1}));
  model.node("Conv", {"x", "w"}, {"a"}).node("Tanh", {"a"}, {"y"});
  onnx::Model after = read(model.bytes());
  EXPECT_EQ(tanh_to_sigmoid(after).count, 0U);
}

TEST(RestoreFloatOps, WhatWasTakenApartIsWholeAgain) {
  const std::string before = between([](ModelBuilder& model) {
    model.node("HardSigmoid", {"a"}, {"s"}, {float_attribute("alpha", 0.3F)}).node("Tanh", {"s"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count + tanh_to_sigmoid(after).count, 2U);
  EXPECT_EQ(restore_float_ops(after).count, 2U);
  EXPECT_THAT(text_of(after), HasSubstr("Conv(x, w) -> a\nHardSigmoid(a) -> s\nTanh(s) -> b\n"));
  expect_same_outputs(before, after, 0);
}

TEST(RestoreFloatOps, AHardSwishIsWholeAgainWithoutItsLimit) {
  const std::string before = between([](ModelBuilder& model) { model.node("HardSwish", {"a"}, {"b"}); });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count, 1U);
  EXPECT_EQ(restore_float_ops(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Conv(x, w) -> a\nHardSwish(a) -> b\n"));
  expect_same_outputs(before, after, 0);
}

TEST(RestoreFloatOps, AHardSwishOfAValueThatOthersTakeIsWholeAgain) {
  const std::string before = between([](ModelBuilder& model) {
    model.node("HardSwish", {"a"}, {"h"}).node("Add", {"h", "a"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(rewrite_hard_swish(after).count, 1U);
  EXPECT_EQ(restore_float_ops(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("HardSwish(a) -> h\nAdd(h, a) -> b\n"));
  expect_same_outputs(before, after, 0);
}

// The end of one pattern looks like a part of the other.
TEST(RestoreFloatOps, WhatIsPartOfOneOpIsNotPartOfAnother) {
  const std::string before = between([](ModelBuilder& model) {
    model.initializer("zero", {}, {0}).initializer("one", {}, {1});
    model.node("Tanh", {"a"}, {"t"}).node("Clip", {"t", "zero", "one"}, {"b"});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(tanh_to_sigmoid(after).count, 1U);
  EXPECT_EQ(restore_float_ops(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Tanh(a) -> t\nClip(t, zero, one) -> b\n"));
  expect_same_outputs(before, after, 0);
}

TEST(RestoreFloatOps, PartsThatOthersLookAtStay) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 3}).output("s", kFloat, {2, 3});
  model.initializer("two", {}, {2}).initializer("minus", {}, {-1});
  model.node("Mul", {"x", "two"}, {"d"}).node("Sigmoid", {"d"}, {"s"});
  model.node("Mul", {"s", "two"}, {"e"}).node("Add", {"e", "minus"}, {"y"});
  onnx::Model after = read(model.bytes());
  EXPECT_EQ(restore_float_ops(after).count, 0U);
}

TEST(MeanToPool, MeansOverAllPositionsAreAPool) {
  for (const std::vector<std::int64_t>& axes :
       {std::vector<std::int64_t>{2, 3}, std::vector<std::int64_t>{-1, -2}}) {
    const std::string before = between([&](ModelBuilder& model) {
      model.node("Relu", {"a"}, {"r"}).node("ReduceMean", {"r"}, {"b"}, {ints_attribute("axes", axes)});
    });
    onnx::Model after = read(before);
    EXPECT_EQ(mean_to_pool(after).count, 1U);
    EXPECT_THAT(text_of(after), HasSubstr("GlobalAveragePool(r) -> b\n"));
    expect_same_outputs(before, after, kClose);
  }
}

TEST(MeanToPool, ADivisionInFrontKeepsTheRank) {
  const std::string before = between([](ModelBuilder& model) {
    model.initializer("six", {}, {6}).node("Div", {"a", "six"}, {"d"});
    model.node("ReduceMean", {"d"}, {"b"}, {ints_attribute("axes", {2, 3})});
  });
  onnx::Model after = read(before);
  EXPECT_EQ(mean_to_pool(after).count, 1U);
  expect_same_outputs(before, after, kClose);
}

TEST(MeanToPool, AxesMayBeAnInput) {
  const std::string before = between(
      [](ModelBuilder& model) {
        model.initializer(ints_tensor("axes", {2, 3})).node("ReduceMean", {"a", "axes"}, {"b"});
      },
      18);
  onnx::Model after = read(before);
  EXPECT_EQ(mean_to_pool(after).count, 1U);
  expect_same_outputs(before, after, kClose);
}

TEST(MeanToPool, WithoutKeptAxesItIsFlattened) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3, 6, 5}).output("y", kFloat, {2, 7});
  model.initializer("w", {4, 3, 1, 1}, noise({4, 3, 1, 1})).initializer("g", {4, 7}, noise({4, 7}, 3));
  model.node("Conv", {"x", "w"}, {"a"});
  model.node("ReduceMean", {"a"}, {"m"}, {ints_attribute("axes", {2, 3}), int_attribute("keepdims", 0)});
  model.node("Gemm", {"m", "g"}, {"y"});
  onnx::Model after = read(model.bytes());
  EXPECT_EQ(mean_to_pool(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Flatten(v0) -> m\n"));
  expect_same_outputs(model.bytes(), after, kClose);
}

TEST(MeanToPool, OtherMeansStay) {
  for (const std::vector<std::int64_t>& axes :
       {std::vector<std::int64_t>{1}, std::vector<std::int64_t>{3}, std::vector<std::int64_t>{1, 2, 3}}) {
    const std::string before = between(
        [&](ModelBuilder& model) { model.node("ReduceMean", {"a"}, {"b"}, {ints_attribute("axes", axes)}); });
    onnx::Model after = read(before);
    EXPECT_EQ(mean_to_pool(after).count, 0U);
  }
}

struct Stride {
  std::int64_t taps, stride, pad_before, pad_after, more, dilation, groups;
};

std::string transposed(const Stride& the, std::size_t rank, bool has_bias, const char* clamp) {
  ModelBuilder model;
  const auto list = [&](std::int64_t value) { return std::vector<std::int64_t>(rank, value); };
  Dims input = {2, 8}, weight = {8, 6 / the.groups}, last = {2, 6}, open = {2, -1};
  for (std::size_t i = 0; i < rank; ++i) {
    input.push_back(static_cast<std::int64_t>(5 + i));
    weight.push_back(the.taps);
    last.push_back(1);
    open.push_back(-1);
  }
  std::vector<std::int64_t> pads = list(the.pad_before);
  const std::vector<std::int64_t> after = list(the.pad_after);
  pads.insert(pads.end(), after.begin(), after.end());
  model.input("x", kFloat, input).output("y", kFloat, open);
  model.initializer("w", weight, noise(weight)).initializer("c", {6}, noise({6}, 5));
  model.initializer("u", last, noise(last, 3));
  model.node("ConvTranspose", has_bias ? ounce::test::Strings{"x", "w", "c"} : ounce::test::Strings{"x", "w"},
             {"t"},
             {ints_attribute("strides", list(the.stride)), ints_attribute("pads", pads),
              ints_attribute("output_padding", list(the.more)),
              ints_attribute("dilations", list(the.dilation)), int_attribute("group", the.groups)},
             "up");
  if (*clamp != '\0') model.node(clamp, {"t"}, {"r"});
  model.node("Conv", {*clamp != '\0' ? "r" : "t", "u"}, {"y"});
  return model.bytes();
}

TEST(ConvTransposeToConv, GivesTheSameForEveryStridePadGroupAndDilation) {
  const std::vector<Stride> cases = {
      {4, 2, 1, 1, 0, 1, 1}, {16, 8, 4, 4, 0, 1, 1}, {3, 2, 1, 1, 1, 1, 1}, {3, 2, 1, 1, 0, 1, 1},
      {2, 2, 0, 0, 0, 1, 1}, {5, 3, 0, 2, 2, 1, 1},  {5, 1, 2, 2, 0, 1, 1}, {4, 2, 1, 1, 0, 1, 2},
      {3, 1, 1, 1, 0, 1, 2}, {4, 2, 3, 1, 0, 1, 1},  {3, 2, 2, 2, 0, 2, 1}, {4, 4, 0, 1, 0, 1, 2},
      {6, 2, 5, 4, 1, 1, 1}, {4, 2, 0, 0, 1, 1, 1},
  };
  std::size_t rewritten = 0;
  for (const std::size_t rank : {1U, 2U}) {
    for (const Stride& the : cases) {
      SCOPED_TRACE(fmt::format(
          "{} dimensions, {} taps, stride {}, pads {} {}, {} more, dilation {}, {} groups", rank, the.taps,
          the.stride, the.pad_before, the.pad_after, the.more, the.dilation, the.groups));
      const std::string before = transposed(the, rank, the.taps % 2 == 0, the.pad_before == 1 ? "Relu" : "");
      onnx::Model after = read(before);
      const Changes changes = conv_transpose_to_conv(after, every);
      rewritten += changes.count;
      EXPECT_EQ(changes.count + changes.left_alone.size(), 1U);
      expect_same_outputs(before, after, kClose);
    }
  }
  EXPECT_GE(rewritten, 22U);
}

TEST(ConvTransposeToConv, PutsAClampRightBehindTheConv) {
  onnx::Model after = read(transposed({4, 2, 1, 1, 0, 1, 1}, 1, true, "Relu"));
  EXPECT_EQ(conv_transpose_to_conv(after, every).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("Conv(x, q0, q1){pads=[1,1], group=1} -> v0\n"
                                        "Relu(v0) -> v1\n"
                                        "Transpose(v1){perm=[0,2,1]} -> v2\n"
                                        "Reshape(v2, q2) -> v3\n"
                                        "Slice(v3, q3, q4, q5) -> v4\n"
                                        "Transpose(v4){perm=[0,2,1]} -> r\n"));
  EXPECT_EQ(after.proto->graph->nodes[0]->name, "up");
}

TEST(ConvTransposeToConv, WhatIsNotWantedStays) {
  onnx::Model after = read(transposed({4, 2, 1, 1, 0, 1, 1}, 2, true, ""));
  EXPECT_EQ(conv_transpose_to_conv(after, [](const onnx::Node&) { return false; }).count, 0U);
  EXPECT_THAT(text_of(after), HasSubstr("ConvTranspose("));
}

TEST(ConvTransposeToConv, SaysWhyItLeavesOneAlone) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 5}).output("y", kFloat, {1, 2, -1});
  model.initializer("w", {8, 6, 4}, noise({8, 6, 4})).initializer("u", {2, 6, 1}, noise({2, 6, 1}, 3));
  model.node("ConvTranspose", {"x", "w"}, {"t"}, {string_attribute("auto_pad", "SAME_UPPER")}, "up");
  model.node("Conv", {"t", "u"}, {"y"});
  onnx::Model after = read(model.bytes());
  EXPECT_THAT(conv_transpose_to_conv(after, every).left_alone,
              testing::ElementsAre("node 'up': its pads are not explicit"));
}

// x ─ Conv → 24 … 40 channels ─ Relu ─ Conv depthwise ─ HardSwish ─ gate ─ Conv ─ y
std::string depthwise(std::int64_t channels, bool is_output = false) {
  ModelBuilder model;
  const Dims expand = {channels, 3, 1, 1}, apart = {channels, 1, 3, 3}, small = {5, channels, 1, 1},
             gate = {channels, 5, 1, 1}, last = {2, channels, 1, 1};
  model.input("x", kFloat, {1, 3, 6, 5}).output("y", kFloat, {1, 2, 6, 5});
  model.initializer("we", expand, noise(expand)).initializer("be", {channels}, noise({channels}, 2));
  model.initializer("wd", apart, noise(apart, 3)).initializer("ws", small, noise(small, 4));
  model.initializer("wg", gate, noise(gate, 5)).initializer("bg", {channels}, noise({channels}, 6));
  model.initializer("wl", last, noise(last, 7));
  model.add(13, ounce::test::value_info("d", kFloat, {1, channels, 6, 5}));
  model.node("Conv", {"x", "we", "be"}, {"e"}).node("Relu", {"e"}, {"r"});
  model.node("Conv", {"r", "wd"}, {"d"},
             {int_attribute("group", channels), ints_attribute("pads", {1, 1, 1, 1})});
  model.node("HardSwish", {"d"}, {"h"})
      .node("GlobalAveragePool", {"h"}, {"p"})
      .node("Conv", {"p", "ws"}, {"s"});
  model.node("Conv", {"s", "wg", "bg"}, {"g"}).node("Sigmoid", {"g"}, {"gg"}).node("Mul", {"h", "gg"}, {"m"});
  model.node("Conv", {"m", "wl"}, {"y"});
  if (is_output) model.output("m", kFloat, {1, channels, 6, 5});
  return model.bytes();
}

TEST(PadChannels, RaisesDepthwiseChannelsToAMultipleOf16) {
  const std::string before = depthwise(24);
  onnx::Model after = read(before);
  EXPECT_EQ(pad_channels(after).count, 1U);
  EXPECT_THAT(text_of(after), HasSubstr("group=32"));
  for (const auto& info : after.proto->graph->value_infos) EXPECT_NE(info->name, "d");
  expect_same_outputs(before, after, 0);
}

TEST(PadChannels, EveryCountGivesTheSame) {
  for (const std::int64_t channels : {25, 40, 47}) {
    const std::string before = depthwise(channels);
    onnx::Model after = read(before);
    EXPECT_EQ(pad_channels(after).count, 1U);
    expect_same_outputs(before, after, kClose);
  }
}

TEST(PadChannels, WhatFitsOrIsSmallOrIsSeenStays) {
  for (const auto& [channels, is_output] : {std::pair{32, false}, std::pair{8, false}, std::pair{24, true}}) {
    onnx::Model after = read(depthwise(channels, is_output));
    EXPECT_EQ(pad_channels(after).count, 0U);
  }
}

TEST(PadChannels, ChannelsThatAConstantKnowsStay) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 6, 5}).output("y", kFloat, {1, 2, 4, 3});
  model.initializer("we", {24, 3, 1, 1}, noise({24, 3, 1, 1}))
      .initializer("wd", {24, 1, 3, 3}, noise({24, 1, 3, 3}));
  model.initializer("c", {24, 1, 1}, noise({24, 1, 1}))
      .initializer("wl", {2, 24, 1, 1}, noise({2, 24, 1, 1}));
  model.node("Conv", {"x", "we"}, {"e"}).node("Mul", {"e", "c"}, {"m"});
  model.node("Conv", {"m", "wd"}, {"d"}, {int_attribute("group", 24)}).node("Conv", {"d", "wl"}, {"y"});
  onnx::Model after = read(model.bytes());
  EXPECT_EQ(pad_channels(after).count, 0U);
}

}  // namespace
}  // namespace ounce::passes
