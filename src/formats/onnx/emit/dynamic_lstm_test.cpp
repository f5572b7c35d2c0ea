#include "formats/onnx/emit/dynamic_ops.h"

#include <gmock/gmock.h>

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
using ounce::test::float_tensor;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::Strings;
using ounce::test::tensor_attribute;
using test::expect_same_outputs;
using test::float_attribute;
using test::noise;
using test::string_attribute;
using test::text_of;
using testing::HasSubstr;

constexpr std::int64_t kSteps = 7, kBatch = 2, kWidth = 6, kHidden = 5;
constexpr quant::LinearFormat kUnsigned{{0, 255}, kernels::CodeSign::kUnsigned, 128, true, false};

struct LstmVariant {
  std::int64_t directions = 1;
  Strings inputs = {"x", "w", "r", "b"};  // optional: lengths, h, c, p
  Strings attributes = {int_attribute("hidden_size", kHidden)};
};

void add_weights(GraphBuilder& graph, std::int64_t directions) {
  const auto add = [&](const char* name, const Dims& dims, std::uint32_t seed) {
    graph.initializer(name, dims, noise(dims, seed));
  };
  add("w", {directions, 4 * kHidden, kWidth}, 2);
  add("r", {directions, 4 * kHidden, kHidden}, 3);
  add("b", {directions, 8 * kHidden}, 4);
  add("p", {directions, 3 * kHidden}, 5);
  add("h", {directions, kBatch, kHidden}, 6);
  add("c", {directions, kBatch, kHidden}, 7);
}

ModelBuilder lstm(const LstmVariant& variant) {
  const std::int64_t directions = variant.directions;
  ModelBuilder model;
  model.add_to_model(8, field(1, std::string("com.microsoft")) + field(2, std::int64_t{1}));
  model.input("x", kFloat, {kSteps, kBatch, kWidth})
      .output("y", kFloat, {kSteps, directions, kBatch, kHidden});
  model.output("yc", kFloat, {directions, kBatch, kHidden});
  add_weights(model, directions);
  model.initializer(ounce::test::tensor("lengths", 6, {kBatch}, std::string("\x07\0\0\0\x04\0\0\0", 8)));
  model.node("LSTM", variant.inputs, {"y", "", "yc"}, variant.attributes, "lstm");
  return model;
}

// Stores the weights of every LSTM and replaces it.
class LstmConversion {
 public:
  explicit LstmConversion(std::string bytes, const quant::LinearFormat& format = test::kSevenBitCodes,
                          bool by_tensor = false)
      : bytes_(std::move(bytes)),
        source_(onnx::read_model_from_memory(bytes_, "model")),
        index_(graph::validate(source_)),
        model_(onnx::read_model_from_memory(bytes_, "model")) {
    decide(format, by_tensor);
    Editors editors(model_, index_);
    std::map<Bytes, StoredGates> gates;
    const std::vector<Stored> all = store_weights(editors, source_, index_, plan_);
    IntegerParameters parameters(editors, index_, plan_, all);
    for (const auto& [key, weight] : parameters.all()) {
      const Bytes zeros = weight.has_zeros() ? parameters.zeros(key.first, weight) : Bytes();
      gates[key.second] = {weight.decision, {weight.codes, weight.scales, zeros}};
    }
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const auto& nodes = index_.bodies()[body].nodes();
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i]->op_type() != "LSTM") continue;
        EXPECT_EQ(plan::why_not_dynamic_lstm(source_, index_, body, *nodes[i]), "");
        put_dynamic_lstm(editors, body, i, gates.at(nodes[i]->inputs[1]), gates.at(nodes[i]->inputs[2]));
      }
    }
    editors.finish();
  }

  const onnx::Model& model() const { return model_; }

 private:
  void decide(const quant::LinearFormat& format, bool by_tensor) {
    for (const plan::Weight& weight : plan::find_weights(index_)) {
      if (weight.op_type != "LSTM" || !weight.channels || weight.tensor->dims.size() != 3) continue;
      if (weight.role != plan::Role::kWeight) continue;
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
      plan_.decisions.push_back(decision);
    }
  }

  std::string bytes_;
  onnx::Model source_;
  graph::Index index_;
  onnx::Model model_;
  plan::Plan plan_;
};

TEST(DynamicLstm, TakesTurnedCodesAndTheirScales) {
  const std::string bytes = lstm({}).bytes();
  const LstmConversion conversion(bytes);
  EXPECT_THAT(
      text_of(conversion.model()),
      HasSubstr("Transpose(q0){perm=[0,2,1]} -> v0\nTranspose(q2){perm=[0,2,1]} -> v1\n"
                "Reshape(q1, q4) -> v2\nReshape(q3, q6) -> v3\n"
                "DynamicQuantizeLSTM(x, v0, v1, b, , , , , v2, q5, v3, q5){hidden_size=5} -> y, , yc\n"));
  EXPECT_THAT(text_of(conversion.model()), HasSubstr("q5 = int8[1,20]\n"));
  EXPECT_EQ(conversion.model().proto->graph->nodes.back()->name, "lstm");
  expect_same_outputs(bytes, conversion.model(), test::kSevenBits);
}

TEST(DynamicLstm, TakesEverythingElseAsItIs) {
  const std::string hidden = int_attribute("hidden_size", kHidden);
  const std::vector<LstmVariant> variants = {
      {2, {"x", "w", "r", "b"}, {hidden, string_attribute("direction", "bidirectional")}},
      {1, {"x", "w", "r"}, {hidden, string_attribute("direction", "reverse")}},
      {1, {"x", "w", "r", "b", "lengths", "h", "c", "p"}, {hidden}},
      {1,
       {"x", "w", "r", "", "", "h"},
       {hidden, float_attribute("clip", 0.5F), int_attribute("input_forget", 1)}},
      {1, {"x", "w", "r", "b"}, {hidden, int_attribute("layout", 0)}},
  };
  for (const LstmVariant& variant : variants) {
    const std::string bytes = lstm(variant).bytes();
    expect_same_outputs(bytes, LstmConversion(bytes).model(), test::kSevenBits);
    expect_same_outputs(bytes, LstmConversion(bytes, kUnsigned).model(), test::kEightBits);
    expect_same_outputs(bytes, LstmConversion(bytes, test::kSevenBitCodes, true).model(),
                        2 * test::kSevenBits);
    expect_same_outputs(bytes, LstmConversion(bytes, kUnsigned, true).model(), 2 * test::kEightBits);
  }
}

TEST(DynamicLstm, TakesWeightsOfGraphsAroundAndOfConstantNodes) {
  GraphBuilder branch;
  branch.output("e", kFloat, {kSteps, 1, kBatch, kHidden});
  const Dims dims = {1, 4 * kHidden, kHidden};
  branch.node("Constant", {}, {"k"}, {tensor_attribute("value", float_tensor("", dims, noise(dims, 9)))});
  branch.node("LSTM", {"x", "w", "k", "b"}, {"e"}, {int_attribute("hidden_size", kHidden)});
  GraphBuilder other;
  other.output("e", kFloat, {kSteps, 1, kBatch, kHidden});
  other.node("LSTM", {"x", "u", "r", "b"}, {"e"}, {int_attribute("hidden_size", kHidden)});
  ModelBuilder model;
  model.add_to_model(8, field(1, std::string("com.microsoft")) + field(2, std::int64_t{1}));
  model.input("x", kFloat, {kSteps, kBatch, kWidth}).input("which", 9, {});
  model.output("y", kFloat, {kSteps, 1, kBatch, kHidden});
  add_weights(model, 1);
  model.initializer("u", {1, 4 * kHidden, kWidth}, noise({1, 4 * kHidden, kWidth}, 11));
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", other.bytes())});
  const std::string bytes = model.bytes();
  expect_same_outputs(bytes, LstmConversion(bytes).model(), test::kSevenBits);
}

std::string why_not(const GraphBuilder& model) {
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index = graph::validate(read);
  return plan::why_not_dynamic_lstm(read, index, 0, *read.proto->graph->nodes[0]);
}

TEST(DynamicLstm, SaysWhatItCannotDo) {
  const std::string hidden = int_attribute("hidden_size", kHidden);
  EXPECT_EQ(why_not(lstm({})), "");
  EXPECT_EQ(why_not(lstm({.attributes = {}})), "");
  EXPECT_EQ(why_not(lstm({.attributes = {hidden, int_attribute("layout", 1)}})), "its layout is batch-first");
  EXPECT_EQ(why_not(lstm({.attributes = {int_attribute("output_sequence", 1)}})),
            "its attribute 'output_sequence' is not known to DynamicQuantizeLSTM");
  EXPECT_EQ(why_not(lstm({.attributes = {int_attribute("hidden_size", 4)}})),
            "its hidden_size does not match its weights");
  EXPECT_EQ(why_not(lstm({.directions = 2})), "the shapes of its weights do not match");
  EXPECT_EQ(why_not(lstm({.inputs = {"x", "x", "r"}})), "its weight is not constant");
  EXPECT_EQ(why_not(lstm({.inputs = {"x", "w", "x"}})), "its recurrent weight is not constant");
  EXPECT_EQ(why_not(lstm({.inputs = {"x", "w", "b"}})), "its recurrent weight does not have three axes");
  ModelBuilder shared = lstm({});
  shared.node("Relu", {"w"}, {"z"});
  EXPECT_EQ(why_not(shared), "its weight is used elsewhere too");
}

}  // namespace
}  // namespace ounce::passes
