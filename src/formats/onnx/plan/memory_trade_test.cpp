#include "formats/onnx/plan/integer_candidates.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::plan {
namespace {

using test::Dims;
using test::kFloat;
using test::ModelBuilder;
using test::ramp;

// Two convolutions without padding, the first at 36 × 36 positions, the second at 4 × 4 positions after a
// pool, and a matrix product.
std::string two_layers(std::int64_t opset = 13, std::int64_t width = 36) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {-1, 64, 36, width}).output("y", kFloat, {-1, 64});
  model.initializer("busy", {64, 64, 1, 1}, ramp({64, 64, 1, 1}));
  model.initializer("idle", {64, 64, 1, 1}, ramp({64, 64, 1, 1}));
  model.initializer("head", {64, 64}, ramp({64, 64}));
  std::string kernel;
  for (int i = 0; i < 2; ++i) kernel += test::field(8, std::int64_t{9});
  const auto nines = [&](const char* name) {
    return test::field(1, std::string(name)) + kernel + test::field(20, std::int64_t{7});
  };
  model.node("Conv", {"x", "busy"}, {"a"});
  model.node("MaxPool", {"a"}, {"b"}, {nines("kernel_shape"), nines("strides")});
  model.node("Conv", {"b", "idle"}, {"c"});
  model.node("GlobalAveragePool", {"c"}, {"d"}).node("Flatten", {"d"}, {"e"});
  model.node("MatMul", {"e", "head"}, {"y"});
  return model.bytes();
}

std::string plan_of(const std::string& bytes, const Recipe& recipe) {
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(model);
  ThreadPool pool(2);
  return make_plan(model, index, recipe, pool).text();
}

Recipe recipe_with(MemoryUse memory, Format format = Format::kW8) {
  Recipe recipe;
  recipe.format = format;
  recipe.fp16_budget = 0;
  recipe.memory = memory;
  return recipe;
}

constexpr const char* kBusyFolded =
    "busy float32[64,64,1,1] -> int8 channel 0 fold: weight of Conv; folded at load, FP32 speed\n";
constexpr const char* kHeadFolded =
    "head float32[64,64] -> int8 channel 1 fold: weight of MatMul; folded at load, FP32 speed\n";

TEST(MemoryTrade, DecodesAtEveryRunWhatCostsTheLeastTimeForItsBytes) {
  EXPECT_EQ(plan_of(two_layers(), recipe_with(MemoryUse::kBalanced)),
            std::string(kBusyFolded) +
                "idle float32[64,64,1,1] -> int8 channel 0 dq: weight of Conv; dequantized on every run: "
                "about 2.4 % of the model's time, at 16 positions\n" +
                kHeadFolded);
}

TEST(MemoryTrade, StopsWhereTheShareIsSpent) {
  Recipe recipe = recipe_with(MemoryUse::kBalanced);
  recipe.decode_share = 0.02;
  EXPECT_EQ(plan_of(two_layers(), recipe), plan_of(two_layers(), recipe_with(MemoryUse::kFast)));
  recipe.decode_share = 0.5;
  EXPECT_THAT(plan_of(two_layers(), recipe),
              testing::HasSubstr("busy float32[64,64,1,1] -> int8 channel 0 dq"));
}

TEST(MemoryTrade, KeepsTheDefaultWhereShapesAreUnknown) {
  const std::string open = two_layers(13, -1);
  EXPECT_EQ(plan_of(open, recipe_with(MemoryUse::kBalanced)), plan_of(open, recipe_with(MemoryUse::kFast)));
}

TEST(MemoryTrade, KeepsTheDefaultWhereTheOpsetHasNoDecoder) {
  const std::string old = two_layers(12);
  EXPECT_EQ(plan_of(old, recipe_with(MemoryUse::kBalanced)), plan_of(old, recipe_with(MemoryUse::kFast)));
  EXPECT_EQ(plan_of(old, recipe_with(MemoryUse::kLow)), plan_of(old, recipe_with(MemoryUse::kFast)));
}

TEST(MemoryTrade, LowDecodesAllThatCanBe) {
  const std::string low = "; dequantized on every run, for low memory\n";
  EXPECT_EQ(plan_of(two_layers(), recipe_with(MemoryUse::kLow)),
            "busy float32[64,64,1,1] -> int8 channel 0 dq: weight of Conv" + low +
                "idle float32[64,64,1,1] -> int8 channel 0 dq: weight of Conv" + low +
                "head float32[64,64] -> int8 channel 1 dq: weight of MatMul" + low);
}

// The blocks of a Conv are rows; those of a MatMul go down its columns.
TEST(MemoryTrade, FourBitsBecomeRowsOfBytes) {
  const std::string low = "; dequantized on every run, for low memory\n";
  EXPECT_EQ(
      plan_of(two_layers(), recipe_with(MemoryUse::kLow, Format::kW4)),
      "busy float32[64,64,1,1] -> int4 block 32 dq rows: weight of Conv" + low +
          "idle float32[64,64,1,1] -> int4 block 32 dq rows: weight of Conv" + low +
          "head float32[64,64] -> int4 block 32 fold table: weight of MatMul; folded at load, FP32 speed\n");
}

TEST(MemoryTrade, AnExplicitDecoderIsLeftAlone) {
  Recipe recipe = recipe_with(MemoryUse::kFast, Format::kW4);
  recipe.decoder = DecoderChoice::kFold;
  EXPECT_EQ(plan_of(two_layers(), recipe).find("table"), std::string::npos);
  recipe.memory = MemoryUse::kLow;
  EXPECT_THROW(validate(recipe), Error);
}

}  // namespace
}  // namespace ounce::plan
