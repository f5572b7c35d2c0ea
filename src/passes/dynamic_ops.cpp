#include "passes/dynamic_ops.h"

#include <map>

#include "onnx/settings.h"
#include "passes/chain.h"
#include "passes/dynamic_attention.h"
#include "passes/dynamic_lstm.h"

namespace ounce::passes {
namespace {

class DynamicOps {
 public:
  DynamicOps(Editors& editors, const graph::Index& index, const plan::Plan& plan,
             IntegerParameters& parameters)
      : editors_(editors), index_(index), plan_(plan), parameters_(parameters) {}

  void put() {
    for (const plan::NodeDecision& decision : plan_.integer.nodes) {
      if (decision.arithmetic == plan::Arithmetic::kDynamic) put(decision);
    }
  }

 private:
  // The codes of a value, made where they are first wanted.
  struct Coded {
    Bytes codes, scale, zero;
  };
  const Coded& code(std::size_t body, Bytes name, std::size_t place) {
    const auto [found, is_new] = coded_.try_emplace({body, name});
    Coded& coded = found->second;
    if (!is_new) return coded;
    BodyEditor& editor = editors_.of(body);
    coded = {editor.names().fresh("q"), editor.names().fresh("q"), editor.names().fresh("q")};
    onnx::Node node;
    node.op_type = "DynamicQuantizeLinear";
    node.inputs = {name};
    node.outputs = {coded.codes, coded.scale, coded.zero};
    editor.add_node(place, std::move(node));
    return coded;
  }

  void put(const plan::NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    const std::size_t place = decision.node;
    if (decision.op->kind == plan::IntegerKind::kLstm) return put_lstm(decision, node);
    BodyEditor& editor = editors_.of(decision.body);
    const Coded& coded = code(decision.body, node.inputs[0], place);
    const Parameter& weight = *parameters_.find(decision.body, node.inputs[1]);
    if (decision.op->kind == plan::IntegerKind::kAttention)
      return put_dynamic_attention(editor, place, {coded.codes, coded.scale, coded.zero},
                                   stored(decision.body, node.inputs[1]));
    editor.replace_node(place);
    std::vector<Bytes> more = {factor_of(node, weight), coded.zero};
    if (weight.has_zeros())
      more.push_back(parameters_.zeros(decision.body, weight, IntegerParameters::Zeros::kSingle));
    if (decision.op->kind == plan::IntegerKind::kConv) return put_conv(decision, node, coded, weight, more);
    const Bytes scale = Chain(editor, place, coded.scale).node("Mul", {weight.scales}).value();
    Chain chain(editor, place, coded.codes);
    chain.node("MatMulInteger", more).cast(ElementType::kFloat).node("Mul", {scale});
    const bool is_gemm = decision.op->kind == plan::IntegerKind::kGemm;
    if (is_gemm && !graph::input_of(node, 2).empty()) chain.node("Add", {node.inputs[2]});
    chain.finish(node.outputs[0]);
  }

  // The codes as [K, N]; runtimes transpose constants when a session is created.
  Bytes factor_of(const onnx::Node& node, const Parameter& weight) {
    if (node.op_type != "Gemm" || integer_setting(node, "transB", 0) == 0) return weight.codes;
    BodyEditor& editor = editors_.of(weight.decision->weight.body);
    return Chain(editor, IntegerParameters::place(*weight.decision), weight.codes)
        .node("Transpose", {})
        .value();
  }

  StoredNames stored(std::size_t body, Bytes name) {
    const Parameter& weight = *parameters_.find(body, name);
    return {weight.codes, weight.scales, weight.has_zeros() ? parameters_.zeros(body, weight) : Bytes()};
  }
  void put_lstm(const plan::NodeDecision& decision, const onnx::Node& node) {
    const auto gates = [&](Bytes name) {
      return StoredGates{parameters_.find(decision.body, name)->decision, stored(decision.body, name)};
    };
    put_dynamic_lstm(editors_, decision.body, decision.node, gates(node.inputs[1]), gates(node.inputs[2]));
  }

  // Channels are on the second axis, so scales and bias are spread over those behind it.
  void put_conv(const plan::NodeDecision& decision, const onnx::Node& node, const Coded& coded,
                const Parameter& weight, const std::vector<Bytes>& more) {
    const std::size_t place = decision.node;
    BodyEditor& editor = editors_.of(decision.body);
    std::vector<std::int64_t> spread(weight.decision->weight.tensor->dims.size() - 1, 1);
    spread[0] = -1;
    const auto per_channel = [&](Bytes values) {
      return Chain(editor, place, values).reshape(spread).value();
    };
    const bool is_per_channel = weight.decision->granularity == GranularityKind::kChannel;
    const Bytes scales = is_per_channel ? per_channel(weight.scales) : weight.scales;
    const Bytes scale = Chain(editor, place, coded.scale).node("Mul", {scales}).value();
    onnx::Node conv;
    conv.op_type = "ConvInteger";
    for (const auto& attribute : node.attributes) conv.attributes.push_back(copy_of(attribute));
    conv.inputs = {coded.codes};
    conv.inputs.insert(conv.inputs.end(), more.begin(), more.end());
    conv.outputs = {editor.names().fresh("v")};
    const Bytes sums = conv.outputs[0];
    editor.add_node(place, std::move(conv));
    Chain chain(editor, place, sums);
    chain.cast(ElementType::kFloat).node("Mul", {scale});
    if (node.inputs.size() > 2 && !node.inputs[2].empty()) chain.node("Add", {per_channel(node.inputs[2])});
    chain.finish(node.outputs[0]);
  }

  Editors& editors_;
  const graph::Index& index_;
  const plan::Plan& plan_;
  IntegerParameters& parameters_;
  std::map<plan::ValueKey, Coded> coded_;  // by the body that wants it
};

}  // namespace

void put_dynamic_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     IntegerParameters& parameters) {
  DynamicOps(editors, index, plan, parameters).put();
}

}  // namespace ounce::passes
