#include "formats/onnx/qat/avoid_saturation.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "target/ort/saturation.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::kInt32;
using ounce::test::kInt8;
using ounce::test::kUint8;
using ounce::test::ModelBuilder;
using ounce::test::tensor;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string bytes_tensor(const std::string& name, int type, const Dims& dims,
                         const std::vector<int>& values) {
  std::string raw;
  for (const int value : values) raw += static_cast<char>(value);
  return tensor(name, type, dims, raw);
}

std::string words_tensor(const std::string& name, const Dims& dims, const std::vector<std::int32_t>& values) {
  return tensor(name, kInt32, dims,
                {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t)});
}

// Two channels of a 1×1 Conv over [1, 4, 3]; the first has a saturating pair.
ModelBuilder conv_model(bool has_channel_scales) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 4, 3}).output("y", kFloat, {1, 2, 3});
  model.initializer("s", {}, {0.01F}).initializer(bytes_tensor("xz", kUint8, {}, {128}));
  model.initializer(bytes_tensor("w", kInt8, {2, 4, 1}, {127, 127, -20, 3, 127, -127, 60, 60}));
  const Dims dims = has_channel_scales ? Dims{2} : Dims{};
  const std::vector<float> ws = has_channel_scales ? std::vector<float>{0.02F, 0.03F} : std::vector{0.02F};
  std::vector<float> bs;
  for (const float scale : ws) bs.push_back(0.01F * scale);
  model.initializer("ws", dims, ws).initializer("bs", dims, bs);
  model.initializer(words_tensor("b", {2}, {4000, -3000}));
  const ounce::test::Strings axis = {int_attribute("axis", 0)};
  model.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
  model.node("DequantizeLinear", {"w", "ws"}, {"wf"}, axis)
      .node("DequantizeLinear", {"b", "bs"}, {"bf"}, axis);
  model.node("Conv", {"a", "wf", "bf"}, {"y"});
  return model;
}

std::size_t saturating_in(const onnx::Model& model) {
  return target::find_saturation(model, graph::Index(model)).nodes.size();
}

TEST(LimitPairs, MakesTrainedCodesSafeAndKeepsTheModel) {
  for (const bool has_channel_scales : {false, true}) {
    const std::string before = conv_model(has_channel_scales).bytes();
    onnx::Model model = onnx::read_model_from_memory(before, "model");
    EXPECT_EQ(saturating_in(model), 1U);
    const SaturationChanges changes = avoid_saturation(model);
    ASSERT_THAT(changes.weights, SizeIs(1));
    EXPECT_EQ(changes.weights[0].weight, "wf");
    EXPECT_EQ(changes.weights[0].op_type, "Conv");
    EXPECT_EQ(changes.weights[0].scales, has_channel_scales ? 2U : 1U);
    EXPECT_EQ(changes.weights[0].changed, 1U);
    EXPECT_NEAR(changes.weights[0].largest_factor, 2, 0.02);
    EXPECT_THAT(changes.left_alone, IsEmpty());
    remove_dead_nodes(model);
    EXPECT_EQ(saturating_in(model), 0U);
    EXPECT_THAT(test::text_of(model), Not(HasSubstr("w = int8")));  // the old values were removed
    // Half a step of the doubled scale, in each of four products.
    test::expect_same_outputs(before, model, 2e-2);
  }
}

TEST(LimitPairs, LeavesAModelWithoutSuchPairsAlone) {
  ModelBuilder builder = conv_model(true);
  onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  avoid_saturation(model);
  const SaturationChanges again = avoid_saturation(model);
  EXPECT_THAT(again.weights, IsEmpty());
  EXPECT_THAT(again.left_alone, IsEmpty());
}

// Scales along the inputs of a square weight are not those of its channels.
TEST(LimitPairs, LeavesScalesOfAnotherAxisAlone) {
  ModelBuilder builder(13, 8);
  builder.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2});
  builder.initializer("s", {}, {0.01F}).initializer(bytes_tensor("xz", kUint8, {}, {128}));
  builder.initializer(bytes_tensor("w", kInt8, {2, 2}, {127, 1, 127, 1}))
      .initializer("ws", {2}, {0.1F, 0.2F});
  builder.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
  builder.node("DequantizeLinear", {"w", "ws"}, {"wf"}, {int_attribute("axis", 0)});
  builder.node("MatMul", {"a", "wf"}, {"y"});
  onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const SaturationChanges changes = avoid_saturation(model);
  EXPECT_THAT(changes.weights, IsEmpty());
  ASSERT_THAT(changes.left_alone, SizeIs(1));
  EXPECT_THAT(changes.left_alone[0], HasSubstr("not one per channel"));
}

TEST(LimitPairs, SaysWhatItCannotChange) {
  ModelBuilder builder = conv_model(true);
  builder.output("wf", kFloat, {2, 4, 1});  // another user of the weight
  onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const SaturationChanges changes = avoid_saturation(model);
  EXPECT_THAT(changes.weights, IsEmpty());
  ASSERT_THAT(changes.left_alone, SizeIs(1));
  EXPECT_THAT(changes.left_alone[0], HasSubstr("other nodes also use its weight"));
}

}  // namespace
}  // namespace ounce::passes
