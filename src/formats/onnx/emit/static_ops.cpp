#include "formats/onnx/emit/static_ops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
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

  // The dequantized weight keeps its name.
  void decode_weight(const plan::ValueKey& key, const Parameter& weight) {
    add_dq(key.first, IntegerParameters::place(*weight.decision), weight, weight.scales, key.second);
  }

  // The scale of a bias is a product of constants, which runtimes fold when a session is created.
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

  // Dynamic nodes use the quantized values directly.
  bool is_of_static(const Parameter& parameter) const {
    if (!parameter.decision->is_linear()) return false;
    const auto& uses = parameter.decision->place.value->uses;
    return std::any_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
      return static_nodes_.contains({use.body, use.node});
    });
  }

  // Runtimes fuse a Gemm into an integer op only if its weight has zero points, even if they are 0.
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

  // Concat takes the output's scale and zero point first, the other ops take them last.
  void join(const NodeDecision& decision, const onnx::Node& node, Names& names) {
    const bool is_concat = node.op() == Op::kConcat;
    if (is_concat) append(names, scale_of_output(decision));
    for (const Bytes input : node.inputs) append(names, coded(decision.body, input));
    if (!is_concat) append(names, scale_of_output(decision));
  }

  static void append(Names& names, const Names& more) { names.insert(names.end(), more.begin(), more.end()); }

  // Quantized value, scale, zero point.
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

namespace {

using graph::kNone;

constexpr std::int64_t kHardSwishOpset = 14;

class Restoring : GraphRewrite {
 public:
  explicit Restoring(onnx::Model& model) : GraphRewrite(model) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (node.op() == Op::kClip) restore_hard_sigmoid(body, position, node);
      if (node.op() == Op::kAdd) restore_tanh(body, position, node);
    });
  }

 private:
  struct Step {
    std::size_t position = 0;
    const onnx::Node* node = nullptr;
  };

  // The node that produces a value without other users.
  std::optional<Step> maker(std::size_t body, Bytes name, Op op) const {
    const auto found = index_.find(body, name);
    const bool is_inner = found.value != nullptr && found.body == body && found.value->producer != kNone &&
                          !found.value->is_output && found.value->uses.size() == 1;
    if (!is_inner) return std::nullopt;
    const onnx::Node& node = *index_.bodies()[body].nodes()[found.value->producer];
    return node.op() == op ? std::optional(Step{found.value->producer, &node}) : std::nullopt;
  }

  std::optional<float> number(std::size_t body, const onnx::Node& node, std::size_t input) const {
    const auto constant = find_constant(model_, index_, body, input_of(node, input));
    const bool is_number = constant && constant->tensor->type == ElementType::kFloat &&
                           constant->tensor->element_count() == 1 && constant->tensor->dims.empty();
    return is_number ? std::optional(floats_of(*constant->tensor)[0]) : std::nullopt;
  }

  void restore_hard_sigmoid(std::size_t body, std::size_t position, const onnx::Node& clip) {
    if (number(body, clip, 1) != 0.0F || number(body, clip, 2) != 1.0F) return;
    const auto sum = maker(body, clip.inputs[0], Op::kAdd);
    const auto product = sum ? maker(body, sum->node->inputs[0], Op::kMul) : std::nullopt;
    if (!product) return;
    const auto slope = number(body, *product->node, 1), middle = number(body, *sum->node, 1);
    if (!slope || !middle) return;
    const bool is_swish =
        *slope == 1.0F / 6 && *middle == 0.5F && opset_of(model_, index_, body) >= kHardSwishOpset;
    if (is_swish && restore_hard_swish(body, {position, sum->position, product->position}, clip.outputs[0],
                                       product->node->inputs[0]))
      return;
    onnx::Node node;
    node.set_op(Op::kHardSigmoid);
    node.inputs = {product->node->inputs[0]};
    node.outputs = {clip.outputs[0]};
    node.attributes.emplace_back(onnx::make_float_attribute(model_, "alpha", *slope));
    node.attributes.emplace_back(onnx::make_float_attribute(model_, "beta", *middle));
    replace(body, position, {sum->position, product->position}, std::move(node));
  }

  // `parts` compute `sigmoid` from `x`; the product of both is the HardSwish.
  bool restore_hard_swish(std::size_t body, std::vector<std::size_t> parts, Bytes sigmoid, Bytes x) {
    const graph::Value* value = index_.find(body, sigmoid).value;
    if (value == nullptr || value->is_output || value->uses.size() != 1) return false;
    const graph::Use& use = value->uses[0];
    if (use.body != body) return false;
    const onnx::Node& product = index_.node(use);
    const bool is_product = product.op() == Op::kMul && product.inputs.size() == 2 &&
                            product.inputs[1 - use.input] == x && sigmoid != x;
    if (!is_product) return false;
    onnx::Node node;
    node.set_op(Op::kHardSwish);
    node.inputs = {x};
    node.outputs = {product.outputs[0]};
    if (const auto limit = lower_limit(body, x)) {
      node.inputs = {limit->node->inputs[0]};
      parts.push_back(limit->position);
    }
    replace(body, use.node, parts, std::move(node));
    return true;
  }

  // The Clip that limits the input of a HardSwish, if its output has no other users.
  std::optional<Step> lower_limit(std::size_t body, Bytes name) const {
    const auto found = index_.find(body, name);
    const bool is_inner = found.value != nullptr && found.body == body && found.value->producer != kNone &&
                          !found.value->is_output && found.value->uses.size() == 2;
    if (!is_inner) return std::nullopt;
    const onnx::Node& clip = *index_.bodies()[body].nodes()[found.value->producer];
    const bool is_limit =
        clip.op() == Op::kClip && number(body, clip, 1) == -3.0F && input_of(clip, 2).empty();
    return is_limit ? std::optional(Step{found.value->producer, &clip}) : std::nullopt;
  }

  void restore_tanh(std::size_t body, std::size_t position, const onnx::Node& add) {
    if (number(body, add, 1) != -1.0F) return;
    const auto outer = maker(body, add.inputs[0], Op::kMul);
    const auto sigmoid = outer ? maker(body, outer->node->inputs[0], Op::kSigmoid) : std::nullopt;
    const auto inner = sigmoid ? maker(body, sigmoid->node->inputs[0], Op::kMul) : std::nullopt;
    if (!inner || number(body, *outer->node, 1) != 2.0F || number(body, *inner->node, 1) != 2.0F) return;
    onnx::Node node;
    node.set_op(Op::kTanh);
    node.inputs = {inner->node->inputs[0]};
    node.outputs = {add.outputs[0]};
    replace(body, position, {outer->position, sigmoid->position, inner->position}, std::move(node));
  }

  void replace(std::size_t body, std::size_t position, const std::vector<std::size_t>& parts,
               onnx::Node node) {
    for (const std::size_t part : parts) {
      if (!taken_.emplace(body, part).second) return;  // already part of another restored op
    }
    if (!taken_.emplace(body, position).second) return;
    BodyEditor& editor = editors_.of(body);
    for (const std::size_t part : parts) editor.remove_node(part);
    editor.replace_node(position);
    editor.add_node(position, std::move(node));
    ++changes_.count;
  }

  std::set<std::pair<std::size_t, std::size_t>> taken_;  // nodes that are already part of a restored op
};

}  // namespace

Changes restore_float_ops(onnx::Model& model) { return Restoring(model).run(); }

}  // namespace ounce::passes
