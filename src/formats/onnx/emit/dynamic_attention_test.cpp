#include "formats/onnx/emit/dynamic_ops.h"

#include <gmock/gmock.h>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/plan.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::field;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::Strings;
using test::expect_same_outputs;
using test::float_attribute;
using test::ints_attribute;
using test::noise;
using test::text_of;
using testing::HasSubstr;

constexpr std::int64_t kSentences = 2, kTokens = 5, kTokenWidth = 6, kHeadsWidth = 8, kHeads = 2;

struct AttentionVariant {
  Strings inputs = {"x", "w", "b"};  // optional: mask, past, bias
  Strings attributes = {int_attribute("num_heads", kHeads)};
  std::int64_t opset = 17;
};

ModelBuilder attention(const AttentionVariant& variant) {
  ModelBuilder model(variant.opset);
  model.add_to_model(8, field(1, std::string("com.microsoft")) + field(2, std::int64_t{1}));
  model.input("x", kFloat, {kSentences, kTokens, kTokenWidth})
      .output("y", kFloat, {kSentences, kTokens, kHeadsWidth});
  model.initializer("w", {kTokenWidth, 3 * kHeadsWidth}, noise({kTokenWidth, 3 * kHeadsWidth}, 2));
  model.initializer("b", {3 * kHeadsWidth}, noise({3 * kHeadsWidth}, 3));
  model.initializer(ounce::test::tensor("mask", 6, {kSentences}, std::string("\x05\0\0\0\x03\0\0\0", 8)));
  const Dims past = {2, kSentences, kHeads, 4, kHeadsWidth / kHeads}, bias = {1, kHeads, kTokens, kTokens};
  model.initializer("past", past, noise(past, 4)).initializer("bias", bias, noise(bias, 5));
  model.add(1, ounce::test::node("Attention", variant.inputs, {"y", "present"}, variant.attributes,
                                 "attention", "com.microsoft"));
  model.add(12, field(1, std::string("present")));
  return model;
}

// Stores the weight and replaces the node.
class AttentionConversion {
 public:
  AttentionConversion(std::string bytes, const quant::LinearFormat& format, bool by_tensor)
      : bytes_(std::move(bytes)),
        source_(onnx::read_model_from_memory(bytes_, "model")),
        index_(graph::validate(source_)),
        model_(onnx::read_model_from_memory(bytes_, "model")) {
    EXPECT_EQ(plan::why_not_dynamic_attention(source_, index_, 0, *source_.proto->graph->nodes[0]), "");
    decide(format, by_tensor);
    Editors editors(model_, index_);
    const std::vector<Stored> all = store_weights(editors, source_, index_, plan_);
    IntegerParameters parameters(editors, index_, plan_, all);
    const Parameter& stored = parameters.all().begin()->second;
    const StoredNames weight = {stored.codes, stored.scales,
                                stored.has_zeros() ? parameters.zeros(0, stored) : Bytes()};
    BodyEditor& editor = editors.of(0);
    onnx::Node code;
    code.set_op(Op::kDynamicQuantizeLinear);
    code.inputs = {"x"};
    code.outputs = {"codes", "scale", "zero"};
    editor.add_node(0, std::move(code));
    put_dynamic_attention(editor, 0, {"codes", "scale", "zero"}, weight);
    editors.finish();
  }

  const onnx::Model& model() const { return model_; }

 private:
  void decide(const quant::LinearFormat& format, bool by_tensor) {
    for (const plan::Weight& weight : plan::find_weights(index_)) {
      if (weight.name != "w") continue;
      plan::Decision decision(weight);
      decision.encoding = plan::Encoding::kLinear8;
      decision.decoder = plan::Decoder::kKernel;
      decision.format = format;
      decision.integer_node = 0;
      if (by_tensor) {
        plan::group_by_tensor(decision);
      } else {
        plan::group_by_channel(decision);
      }
      plan::shape_scales(decision);
      if (!by_tensor) decision.scale_dims = {3 * kHeadsWidth};
      plan_.decisions.push_back(decision);
    }
  }

  std::string bytes_;
  onnx::Model source_;
  graph::Index index_;
  onnx::Model model_;
  plan::Plan plan_;
};

TEST(DynamicAttention, TakesCodesAndScales) {
  const std::string bytes = attention({{"x", "w", "b", "mask", "past"}}).bytes();
  const AttentionConversion conversion(bytes, quant::kSymmetricInt8, false);
  EXPECT_THAT(
      text_of(conversion.model()),
      HasSubstr("DynamicQuantizeLinear(x) -> codes, scale, zero\n"
                "QAttention(codes, q0, b, scale, q1, mask, zero, , past){num_heads=2} -> y, present\n"));
  EXPECT_EQ(conversion.model().proto->graph->nodes.back()->name, "attention");
}

TEST(DynamicAttention, TakesEverythingElseAsItIs) {
  const std::string heads = int_attribute("num_heads", kHeads);
  const std::vector<AttentionVariant> variants = {
      {},
      {{"x", "w", "b", "mask"}, {heads, float_attribute("mask_filter_value", -3)}},
      {{"x", "w", "b", "", "past"}, {heads, int_attribute("unidirectional", 1)}},
      {{"x", "w", "b"}, {heads, float_attribute("scale", 0.2F), int_attribute("do_rotary", 0)}},
      {{"x", "w", "b"}, {heads, ints_attribute("qkv_hidden_sizes", {kHeadsWidth, kHeadsWidth, kHeadsWidth})}},
      {{"x", "w", "b"}, {heads, int_attribute("rotary_embedding_dim", 0)}},
  };
  constexpr quant::LinearFormat kUnsigned{{0, 255}, kernels::CodeSign::kUnsigned, 128, true, false};
  for (const AttentionVariant& variant : variants) {
    const std::string bytes = attention(variant).bytes();
    expect_same_outputs(bytes, AttentionConversion(bytes, test::kSevenBitCodes, false).model(),
                        test::kSevenBits);
    expect_same_outputs(bytes, AttentionConversion(bytes, kUnsigned, false).model(), test::kEightBits);
    expect_same_outputs(bytes, AttentionConversion(bytes, test::kSevenBitCodes, true).model(),
                        test::kSevenBits);
  }
}

std::string reason(const ModelBuilder& model) {
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index = graph::validate(read);
  const onnx::Node& node = *read.proto->graph->nodes[0];
  EXPECT_TRUE(plan::is_fused_attention(node));
  return plan::why_not_dynamic_attention(read, index, 0, node);
}

TEST(DynamicAttention, SaysWhatItCannotDo) {
  const std::string heads = int_attribute("num_heads", kHeads);
  EXPECT_EQ(reason(attention({})), "");
  EXPECT_EQ(reason(attention({.opset = 10})), "its opset is older than 11");
  EXPECT_EQ(reason(attention({.inputs = {"x", "w"}})), "it has no bias, which QAttention needs");
  EXPECT_EQ(reason(attention({.inputs = {"x", "w", "b", "", "", "bias"}})),
            "QAttention does not support its input 5");
  EXPECT_EQ(reason(attention({.inputs = {"x", "x", "b"}})), "its weight is not constant");
  EXPECT_EQ(reason(attention({.inputs = {"x", "b", "b"}})), "its weight is not a matrix");
  EXPECT_EQ(reason(attention({.attributes = {}})), "its num_heads cannot be read");
  EXPECT_EQ(reason(attention({.attributes = {int_attribute("num_heads", 3)}})),
            "its weight does not match num_heads");
  EXPECT_EQ(reason(attention({.attributes = {heads, int_attribute("do_rotary", 1)}})),
            "QAttention has no do_rotary");
  EXPECT_EQ(reason(attention({.attributes = {heads, int_attribute("new", 1)}})),
            "its attribute 'new' is not known to QAttention");
  EXPECT_EQ(reason(attention({.attributes = {heads, ints_attribute("qkv_hidden_sizes", {4, 4, 16})}})),
            "its queries, keys and values differ in size (qkv_hidden_sizes)");
  ModelBuilder shared = attention({});
  shared.add(1, ounce::test::node("Relu", {"w"}, {"z"}));
  EXPECT_EQ(reason(shared), "its weight is used elsewhere too");
}

}  // namespace
}  // namespace ounce::passes
