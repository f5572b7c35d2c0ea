#include "formats/onnx/plan/plan.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>
#include <limits>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::plan {
namespace {

using test::Dims;
using test::GraphBuilder;
using test::int_attribute;
using test::kFloat;
using test::kInt64;
using test::ModelBuilder;
using test::ramp;

std::string plan_text(const std::string& bytes, Recipe recipe = {}) {
  if (recipe.fp16_budget == Recipe().fp16_budget) recipe.fp16_budget = 0;  // these models are all small
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(model);
  ThreadPool pool(2);
  return make_plan(model, index, recipe, pool).text();
}

// A model in which `op` uses the weight w of these dimensions as input number `input`.
std::string model_of(const std::string& op, std::size_t input, const Dims& dims,
                     const test::Strings& attributes = {}, std::int64_t opset = 17) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {1, 1, 8, 8}).output("y", kFloat, {1});
  model.initializer("w", dims, ramp(dims));
  test::Strings inputs(input + 1, "x");
  inputs[input] = "w";
  const std::size_t least = op == "LSTM" ? 3 : 2;
  while (inputs.size() < least) inputs.emplace_back("x");
  model.node(op, inputs, {"y"}, attributes);
  return model.bytes();
}

TEST(Plan, KnowsTheChannelAxisOfEveryOp) {
  EXPECT_EQ(plan_text(model_of("Conv", 1, {32, 16, 3, 3})),
            "w float32[32,16,3,3] -> int8 channel 0 fold: weight of Conv; folded at load, FP32 speed\n");
  EXPECT_EQ(
      plan_text(model_of("ConvTranspose", 1, {32, 16, 3, 3})),
      "w float32[32,16,3,3] -> int8 channel 1 fold: weight of ConvTranspose; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {32, 16})),
            "w float32[32,16] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {4, 32, 16})),
            "w float32[4,32,16] -> int8 channel 2 fold: weight of MatMul; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 0, {32, 16})),
            "w float32[32,16] -> int8 channel 0 fold: weight of MatMul; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("Gemm", 1, {32, 16})),
            "w float32[32,16] -> int8 channel 1 fold: weight of Gemm; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("Gemm", 1, {32, 16}, {int_attribute("transB", 1)})),
            "w float32[32,16] -> int8 channel 0 fold: weight of Gemm; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("LSTM", 1, {2, 64, 16})),
            "w float32[2,64,16] -> int8 channel 0-1 fold: weight of LSTM; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("GRU", 2, {1, 48, 16})),
            "w float32[1,48,16] -> int8 channel 0-1 fold: weight of GRU; folded at load, FP32 speed\n");
  EXPECT_EQ(
      plan_text(model_of("Gather", 0, {64, 16})),
      "w float32[64,16] -> int8 channel 0 lookup: weight of Gather; rows are dequantized after the lookup\n");
  EXPECT_EQ(plan_text(model_of("Gather", 0, {64, 16}, {int_attribute("axis", 1)})),
            "w float32[64,16] -> int8 channel 0 fold: weight of Gather; folded at load, FP32 speed\n");
}

TEST(Plan, LooksUpOnlyInGathersThatAreWholeAndOnAxisZero) {
  const auto decoder = [](const std::string& gather) {
    ModelBuilder model;
    model.input("x", kInt64, {1}).output("z", kFloat, {1}).initializer("w", {64, 16}, ramp({64, 16}));
    model.add(1, gather).node("Identity", {"x"}, {"z"});
    return plan_text(model.bytes()).find(" lookup: ") != std::string::npos;
  };
  EXPECT_TRUE(decoder(test::node("Gather", {"w", "x"}, {"y"})));
  EXPECT_TRUE(decoder(test::node("Gather", {"w", "x"}, {"y"}, {int_attribute("axis", 0)})));
  const std::string referring = test::field(1, std::string("axis")) + test::field(21, std::string("axis")) +
                                test::field(20, std::int64_t{2});
  EXPECT_FALSE(decoder(test::node("Gather", {"w", "x"}, {"y"}, {referring})));
}

TEST(Plan, FollowsAWeightThroughOpsThatMoveIt) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 16}).output("y", kFloat, {1, 32}).initializer("w", {32, 16}, ramp({32, 16}));
  model.node("Transpose", {"w"}, {"t"}).node("Identity", {"t"}, {"i"}).node("MatMul", {"x", "i"}, {"y"});
  EXPECT_EQ(plan_text(model.bytes()),
            "w float32[32,16] -> int8 channel 0 fold: weight of MatMul; folded at load, FP32 speed\n");
}

TEST(Plan, LeavesOtherConstantsAloneAndSaysWhy) {
  EXPECT_EQ(plan_text(model_of("Add", 1, {32, 16})),
            "w float32[32,16] -> keep: feeds Add, which may need full precision\n");
  Recipe w16;
  w16.format = Format::kW16;
  EXPECT_EQ(plan_text(model_of("Add", 1, {32, 16}), w16),
            "w float32[32,16] -> float16 tensor fold: constant of Add, as 16-bit floats; folded at load, "
            "FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("Mul", 1, {512}), w16),
            "w float32[512] -> keep: feeds Mul, which may need full precision\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {4, 4})), "w float32[4,4] -> keep: smaller than 1024 bytes\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {32, 16}, {}, 6)),
            "w float32[32,16] -> keep: opset 6 is too old for dequantization (7 is required)\n");
  EXPECT_EQ(plan_text(model_of("QuantizeLinear", 1, {32, 16})),
            "w float32[32,16] -> keep: belongs to an op that is already quantized\n");
}

TEST(Plan, StoresBiasesIn16BitsUnlessTheyAreTooSmall) {
  EXPECT_EQ(plan_text(model_of("Conv", 2, {512})),
            "w float32[512] -> float16 tensor fold: parameter of Conv, as 16-bit floats; folded at load, "
            "FP32 speed\n");
  ModelBuilder model;
  model.input("x", kFloat, {1}).output("y", kFloat, {1}).initializer("b", {512}, ramp({512}, 1e-5F));
  model.node("Conv", {"x", "x", "b"}, {"y"});
  EXPECT_EQ(plan_text(model.bytes()),
            "b float32[512] -> keep: has values too small for 16-bit floats (6e-5)\n");
}

TEST(Plan, FourBitsUseBlocksWhereTheyFit) {
  Recipe w4;
  w4.format = Format::kW4;
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {64, 16}), w4),
            "w float32[64,16] -> int4 block 32 fold table: weight of MatMul; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {60, 16}), w4),
            "w float32[60,16] -> int4 channel 1 fold table: weight of MatMul; folded at load, FP32 speed\n");
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {64, 16}, {}, 9), w4),
            "w float32[64,16] -> int8 channel 1 fold: weight of MatMul; opset 9 cannot unpack 4 bits (11 is "
            "needed), so 8; folded at load, FP32 speed\n");
}

TEST(Plan, DequantizeLinearNeedsTheRightOpset) {
  Recipe dq;
  dq.decoder = DecoderChoice::kDq;
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {64, 16}), dq),
            "w float32[64,16] -> int8 channel 1 dq: weight of MatMul; DequantizeLinear, as requested\n");
  EXPECT_EQ(
      plan_text(model_of("MatMul", 1, {64, 16}, {}, 12), dq),
      "w float32[64,16] -> int8 channel 1 fold: weight of MatMul; folded, because DequantizeLinear needs "
      "opset 13, the model has 12\n");
  // Runtimes do not fuse it into a Conv, so the reason states the cost.
  EXPECT_THAT(plan_text(model_of("Conv", 1, {64, 16, 3, 3}), dq),
              testing::HasSubstr("runs on every inference"));
  dq.granularity = {GranularityKind::kBlock, 32};
  EXPECT_EQ(plan_text(model_of("MatMul", 1, {64, 16}, {}, 21), dq),
            "w float32[64,16] -> int8 block 32 dq: weight of MatMul; DequantizeLinear, as requested\n");
}

TEST(Plan, ReadsTheValuesBeforeItPromises) {
  ModelBuilder zeros;
  zeros.input("x", kFloat, {1})
      .output("y", kFloat, {1})
      .initializer("w", {32, 16}, std::vector<float>(512, 0.0F))
      .node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(plan_text(zeros.bytes()), "w float32[32,16] -> keep: all values are zero\n");

  auto values = ramp({32, 16});
  values[100] = 70000;
  ModelBuilder large;
  large.input("x", kFloat, {1})
      .output("y", kFloat, {1})
      .initializer("w", {32, 16}, values)
      .node("MatMul", {"x", "w"}, {"y"});
  Recipe w16;
  w16.format = Format::kW16;
  EXPECT_EQ(plan_text(large.bytes(), w16),
            "w float32[32,16] -> keep: its largest magnitude 70000 overflows 16-bit floats (65504)\n");
}

TEST(Plan, NamesAWeightThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto values = ramp({32, 16});
    values[511] = bad;
    ModelBuilder model;
    model.input("x", kFloat, {1})
        .output("y", kFloat, {1})
        .initializer("the weight", {32, 16}, values)
        .node("MatMul", {"x", "the weight"}, {"y"});
    try {
      plan_text(model.bytes());
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_STREQ(error.what(),
                   "tensor 'the weight': a weight has NaN or infinite values; repair the model, or leave the "
                   "tensor out with `exclude`");
    }
  }
}

TEST(Plan, SelectsByTensorNodeAndOpType) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).output("y", kFloat, {1});
  model.initializer("first.weight", {32, 16}, ramp({32, 16}))
      .initializer("second.weight", {16, 32}, ramp({16, 32}));
  model.node("MatMul", {"x", "first.weight"}, {"h"}, {}, "layer/one")
      .node("Gemm", {"h", "second.weight"}, {"y"}, {}, "layer/two");
  const auto stored = [&](const Recipe& recipe) {
    const std::string text = plan_text(model.bytes(), recipe);
    return std::pair(text.find("first.weight float32[32,16] -> int8") != std::string::npos,
                     text.find("second.weight float32[16,32] -> int8") != std::string::npos);
  };
  Recipe recipe;
  recipe.include = {"^first"};
  EXPECT_EQ(stored(recipe), std::pair(true, false));
  recipe.include = {"layer/two"};
  EXPECT_EQ(stored(recipe), std::pair(false, true));
  recipe.include = {};
  recipe.exclude = {"^Gemm$"};
  EXPECT_EQ(stored(recipe), std::pair(true, false));
  recipe.exclude = {"no such thing"};
  EXPECT_THROW(plan_text(model.bytes(), recipe), Error);
  recipe.exclude = {"("};
  EXPECT_THROW(plan_text(model.bytes(), recipe), Error);
}

TEST(Plan, SpendsItsShareOnTheSmallestWeights) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).output("y", kFloat, {1});
  model.initializer("large", {512, 512}, ramp({512, 512})).initializer("small", {16, 32}, ramp({16, 32}));
  model.node("MatMul", {"x", "large"}, {"h"}).node("MatMul", {"h", "small"}, {"y"});
  Recipe recipe;
  recipe.fp16_budget = 0.002;
  EXPECT_EQ(plan_text(model.bytes(), recipe),
            "large float32[512,512] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n"
            "small float32[16,32] -> float16 tensor fold: weight of MatMul, so small that 16-bit floats cost "
            "almost nothing\n");
}

TEST(Plan, FindsWeightsInConstantsAndSubgraphs) {
  GraphBuilder then_branch, else_branch;
  then_branch.output("t", kFloat, {1})
      .initializer("w", {32, 16}, ramp({32, 16}))
      .node("MatMul", {"x", "w"}, {"t"});
  else_branch.output("e", kFloat, {1})
      .initializer("w", {32, 16}, ramp({32, 16}))
      .node("MatMul", {"x", "w"}, {"e"});
  ModelBuilder model;
  model.input("x", kFloat, {1}).input("c", 9, {}).output("y", kFloat, {1}).output("z", kFloat, {1});
  model.node("If", {"c"}, {"y"},
             {test::graph_attribute("then_branch", then_branch.bytes()),
              test::graph_attribute("else_branch", else_branch.bytes())});
  model.node("Constant", {}, {"k"},
             {test::tensor_attribute("value", test::float_tensor("", {16, 32}, ramp({16, 32})))});
  model.node("MatMul", {"x", "k"}, {"z"});
  const std::string text = plan_text(model.bytes());
  EXPECT_EQ(text,
            "k float32[16,32] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n"
            "w float32[32,16] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n"
            "w float32[32,16] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n");
}

}  // namespace
}  // namespace ounce::plan
