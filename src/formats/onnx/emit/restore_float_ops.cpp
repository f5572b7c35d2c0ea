#include "formats/onnx/emit/restore_float_ops.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"

namespace ounce::passes {
namespace {

using graph::kNone;

constexpr std::int64_t kHardSwishOpset = 14;

class Restoring {
 public:
  explicit Restoring(onnx::Model& model) : model_(model), index_(model), editors_(model, index_) {}

  Changes run() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (node.op() == Op::kClip) restore_hard_sigmoid(body, position, node);
      if (node.op() == Op::kAdd) restore_tanh(body, position, node);
    });
    editors_.finish();
    return std::move(changes_);
  }

 private:
  struct Step {
    std::size_t position = 0;
    const onnx::Node* node = nullptr;
  };

  // The node that gives a value which nobody else takes.
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

  // `parts` make `sigmoid` of `x`; the product of both is the HardSwish.
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

  // The Clip below which a HardSwish gives nothing, if nobody else takes what it gives.
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
      if (!taken_.emplace(body, part).second) return;  // another op was made of it
    }
    if (!taken_.emplace(body, position).second) return;
    BodyEditor& editor = editors_.of(body);
    for (const std::size_t part : parts) editor.remove_node(part);
    editor.replace_node(position);
    editor.add_node(position, std::move(node));
    ++changes_.count;
  }

  onnx::Model& model_;
  graph::Index index_;
  Editors editors_;
  Changes changes_;
  std::set<std::pair<std::size_t, std::size_t>> taken_;  // nodes that are part of an op already
};

}  // namespace

Changes restore_float_ops(onnx::Model& model) { return Restoring(model).run(); }

}  // namespace ounce::passes
