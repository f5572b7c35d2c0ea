#include "formats/onnx/emit/static_ops.h"

#include <algorithm>
#include <set>
#include <utility>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/attributes.h"

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
    if (decision.is_rescale_only) return editor.remove_node(decision.node);
    if (decision.gives_codes) {
      editor.edit_node(decision.node).outputs[0] = values_.floats_behind(decision);
      if (decision.absorbed != graph::kNone) editor.remove_node(decision.absorbed);
    }
    if (decision.op->has_weight() && node.inputs.size() > 2) decode_bias(decision, node);
    for (std::size_t i = 0; i < decision.op->activations(node.inputs.size()); ++i) {
      const plan::ScalarOperand* number = values_.number(decision.body, node.inputs[i]);
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
    const Bytes input_scale =
        values_.scale(decision.body, values_.quantization(decision.body, node.inputs[0]));
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
  QuantizedValues values_;
  std::set<std::pair<std::size_t, std::size_t>> static_nodes_;  // body and node
};

}  // namespace

void put_static_qdq(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    IntegerParameters& parameters) {
  StaticQdq(editors, index, plan, parameters).put();
}

namespace {

using plan::IntegerKind;
using plan::NodeDecision;

class StaticQOperator {
 public:
  StaticQOperator(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                  IntegerParameters& parameters)
      : editors_(editors),
        index_(index),
        plan_(plan.integer),
        parameters_(parameters),
        values_(editors, index, plan.integer, /*makes_codes=*/true) {}

  void put() {
    for (const NodeDecision& decision : plan_.nodes) {
      if (decision.arithmetic == plan::Arithmetic::kStatic) put(decision);
    }
  }

 private:
  using Names = std::vector<Bytes>;

  void put(const NodeDecision& decision) {
    const onnx::Node& old = *index_.bodies()[decision.body].nodes()[decision.node];
    if (decision.is_rescale_only) return editors_.of(decision.body).remove_node(decision.node);
    onnx::Node node;
    node.name = old.name;
    const ops::OpInfo& form = ops::info(decision.op->op);
    node.set_op(ops::name_of(form.domain), form.name);
    for (const auto& attribute : old.attributes) {
      const bool is_gone = decision.op->kind == IntegerKind::kGemm && attribute->name == "beta";
      if (!is_gone) node.attributes.push_back(copy_of(attribute));
    }
    node.inputs = inputs(decision, old);
    node.outputs = {decision.gives_codes ? values_.codes(decision.body, decision.output) : decision.output};
    BodyEditor& editor = editors_.of(decision.body);
    editor.replace_node(decision.node);
    if (decision.absorbed != graph::kNone) editor.remove_node(decision.absorbed);
    editor.add_node(decision.node, std::move(node));
  }

  Names inputs(const NodeDecision& decision, const onnx::Node& node) {
    Names names;
    switch (decision.op->kind) {
      case IntegerKind::kConv:
        append(names, coded(decision.body, node.inputs[0]));
        append(names, weight(decision.body, node));
        append(names, scale_of_output(decision));
        append(names, bias(decision.body, node));
        break;
      case IntegerKind::kGemm:
        append(names, coded(decision.body, node.inputs[0]));
        append(names, weight(decision.body, node));
        append(names, bias(decision.body, node));
        if (!decision.gives_codes) break;
        if (bias(decision.body, node).empty()) names.emplace_back();
        append(names, scale_of_output(decision));
        break;
      case IntegerKind::kMatMul: {
        const Names a = coded(decision.body, node.inputs[0]), b = weight(decision.body, node);
        names = {a[0], b[0], a[1], b[1], a[2], b[2]};
        break;
      }
      case IntegerKind::kJoin: join(decision, node, names); break;
      case IntegerKind::kMap:
        append(names, coded(decision.body, node.inputs[0]));
        append(names, scale_of_output(decision));
        break;
      case IntegerKind::kMovement:
        names = node.inputs;
        names[0] = values_.codes(decision.body, node.inputs[0]);
        break;
      default: break;  // never static
    }
    return names;
  }

  // Concat says first what it gives, the others last.
  void join(const NodeDecision& decision, const onnx::Node& node, Names& names) {
    const bool is_concat = node.op() == Op::kConcat;
    if (is_concat) append(names, scale_of_output(decision));
    for (const Bytes input : node.inputs) append(names, coded(decision.body, input));
    if (!is_concat) append(names, scale_of_output(decision));
  }

  static void append(Names& names, const Names& more) { names.insert(names.end(), more.begin(), more.end()); }

  // Codes, scale, zero.
  Names coded(std::size_t body, Bytes name) {
    if (const plan::ScalarOperand* number = values_.number(body, name)) {
      return {values_.codes(body, name, *number), values_.scale(body, number->quantization),
              values_.zero(body, number->quantization)};
    }
    const plan::ActivationQuantization& quantization = values_.quantization(body, name);
    return {values_.codes(body, name), values_.scale(body, quantization), values_.zero(body, quantization)};
  }
  Names scale_of_output(const NodeDecision& decision) {
    const plan::ActivationQuantization& quantization = values_.quantization(decision.body, decision.output);
    return {values_.scale(decision.body, quantization), values_.zero(decision.body, quantization)};
  }
  Names weight(std::size_t body, const onnx::Node& node) {
    const Parameter& weight = *parameters_.find(body, node.inputs[1]);
    return {weight.codes, weight.scales, parameters_.zeros(body, weight)};
  }
  Names bias(std::size_t body, const onnx::Node& node) const {
    const Parameter* bias = node.inputs.size() > 2 ? parameters_.find(body, node.inputs[2]) : nullptr;
    return bias == nullptr ? Names() : Names{bias->codes};
  }

  Editors& editors_;
  const graph::Index& index_;
  const plan::IntegerPlan& plan_;
  IntegerParameters& parameters_;
  QuantizedValues values_;
};

}  // namespace

void put_static_qoperator(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                          IntegerParameters& parameters) {
  StaticQOperator(editors, index, plan, parameters).put();
}

}  // namespace ounce::passes
