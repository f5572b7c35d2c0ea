#include "formats/onnx/emit/static_qdq.h"

#include <algorithm>
#include <set>
#include <utility>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/emit/quantized_values.h"

namespace ounce::passes {
namespace {

class StaticQdq {
 public:
  StaticQdq(Editors& editors, const graph::Index& index, const plan::Plan& plan,
            IntegerParameters& parameters)
      : editors_(editors),
        index_(index),
        plan_(plan.integer),
        parameters_(parameters),
        values_(editors, index, plan.integer) {
    for (const plan::NodeDecision& decision : plan_.nodes) {
      if (decision.arithmetic == plan::Arithmetic::kStatic)
        static_nodes_.emplace(decision.body, decision.node);
    }
  }

  void put() {
    for (const auto& [key, parameter] : parameters_.all()) {
      if (is_of_static(parameter)) decode_weight(key, parameter);
    }
    for (const plan::NodeDecision& decision : plan_.nodes) {
      if (decision.arithmetic == plan::Arithmetic::kStatic) put(decision);
    }
  }

 private:
  void put(const plan::NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    BodyEditor& editor = editors_.of(decision.body);
    if (decision.is_reading) return editor.remove_node(decision.node);
    if (decision.gives_codes) {
      editor.edit_node(decision.node).outputs[0] = values_.floats_behind(decision);
      if (decision.absorbed != graph::kNone) editor.remove_node(decision.absorbed);
    }
    if (decision.op->has_weight() && node.inputs.size() > 2) decode_bias(decision, node);
    for (std::size_t i = 0; i < decision.op->activations(node.inputs.size()); ++i) {
      const plan::NumberCode* number = values_.number(decision.body, node.inputs[i]);
      const Bytes input = number != nullptr
                              ? values_.decode(decision.body, node.inputs[i], *number, decision.node)
                              : values_.decode(decision.body, node.inputs[i], decision.node);
      editor.edit_node(decision.node).inputs[i] = input;
    }
  }

  // The weight keeps its name.
  void decode_weight(const plan::ValueKey& key, const Parameter& weight) {
    add_dq(key.first, IntegerParameters::place(*weight.decision), weight, weight.scales, key.second);
  }

  // Its scales are a product of constants, which runtimes compute when a session is created.
  void decode_bias(const plan::NodeDecision& decision, const onnx::Node& node) {
    const Parameter* bias = parameters_.find(decision.body, node.inputs[2]);
    if (bias == nullptr) return;
    const Parameter& weight = *parameters_.find(decision.body, node.inputs[1]);
    const Bytes input_scale = values_.scale(decision.body, values_.coding(decision.body, node.inputs[0]));
    Chain scales(editors_.of(decision.body), decision.node, weight.scales);
    add_dq(decision.body, decision.node, *bias, scales.node(Op::kMul, {input_scale}).value(), node.inputs[2]);
  }

  void add_dq(std::size_t body, std::size_t place, const Parameter& parameter, Bytes scales, Bytes output) {
    std::vector<Bytes> more = {scales};
    if (parameter.has_zeros() || is_weight_of_gemm(parameter))
      more.push_back(parameters_.zeros(body, parameter));
    Chain chain(editors_.of(body), place, parameter.codes);
    if (parameter.decision->granularity == GranularityKind::kTensor) {
      chain.node(Op::kDequantizeLinear, more);
    } else {
      const std::size_t axis = parameter.decision->weight.channels->first;
      chain.node(Op::kDequantizeLinear, more, chain.integer("axis", static_cast<std::int64_t>(axis)));
    }
    chain.finish(output);
  }

  // Dynamic nodes take codes as they are.
  bool is_of_static(const Parameter& parameter) const {
    if (!parameter.decision->is_linear()) return false;
    const auto& uses = parameter.decision->weight.value->uses;
    return std::any_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
      return static_nodes_.contains({use.body, use.node});
    });
  }

  // Runtimes make an integer op of a Gemm only when its weight has zeros, even if they are zero.
  bool is_weight_of_gemm(const Parameter& parameter) const {
    return parameter.decision->is_linear() &&
           plan_.nodes[parameter.decision->integer_node].op->kind == plan::IntegerKind::kGemm;
  }

  Editors& editors_;
  const graph::Index& index_;
  const plan::IntegerPlan& plan_;
  IntegerParameters& parameters_;
  CodedValues values_;
  std::set<std::pair<std::size_t, std::size_t>> static_nodes_;  // body and node
};

}  // namespace

void put_static_qdq(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    IntegerParameters& parameters) {
  StaticQdq(editors, index, plan, parameters).put();
}

}  // namespace ounce::passes
