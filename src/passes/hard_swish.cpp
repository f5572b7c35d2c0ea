#include "passes/hard_swish.h"

#include <fmt/format.h>

#include <cmath>

#include "onnx/settings.h"
#include "passes/chain.h"
#include "passes/code_paths.h"
#include "passes/constants.h"
#include "passes/editors.h"
#include "plan/integer_ops.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using graph::Use;

class HardSwishRewrite {
 public:
  explicit HardSwishRewrite(onnx::Model& model) : index_(model), editors_(model, index_) {}

  Changes run() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      const bool is_hard = is_op(node, "HardSwish") || is_op(node, "HardSigmoid");
      if (!is_hard || !stands_between_integers(index_, body, node)) return;
      if (is_op(node, "HardSwish")) rewrite_swish(body, position, node);
      if (is_op(node, "HardSigmoid")) rewrite_sigmoid(body, position, node);
    });
    editors_.finish();
    return std::move(changes_);
  }

 private:
  Bytes number(BodyEditor& editor, float value) {
    return editor.add_shared(fmt::format("number {}", value), scalar(ElementType::kFloat, value));
  }

  // x itself where its codes have to reach further down than `low`.
  Bytes limited(std::size_t body, std::size_t position, Bytes x, float low, std::size_t uses) {
    const auto found = index_.find(body, x);
    const bool is_ours = found.body == body && found.value->producer != kNone && !found.value->is_output &&
                         found.value->uses.size() == uses;
    if (!is_ours || !(low < 0)) return x;
    // Only a limit right behind an integer op costs nothing.
    const onnx::Node& maker = *index_.bodies()[body].nodes()[found.value->producer];
    const plan::IntegerOp* op = plan::find_integer_op(maker);
    if (op == nullptr || !op->may_give_codes() || op->kind == plan::IntegerKind::kMovement) return x;
    BodyEditor& editor = editors_.of(body);
    return Chain(editor, position, x).node("Clip", {number(editor, low)}).value();
  }

  // clip(α·x + β, 0, 1)
  Chain sigmoid(std::size_t body, std::size_t position, Bytes x, float alpha, float beta) {
    BodyEditor& editor = editors_.of(body);
    Chain chain(editor, position, x);
    if (alpha != 1) chain.node("Mul", {number(editor, alpha)});
    if (beta != 0) chain.node("Add", {number(editor, beta)});
    chain.node("Clip", {number(editor, 0), number(editor, 1)});
    return chain;
  }

  void rewrite_swish(std::size_t body, std::size_t position, const onnx::Node& node) {
    constexpr float kSlope = 1.0F / 6, kMiddle = 0.5F, kLow = -3;
    const Bytes x = limited(body, position, node.inputs[0], kLow, 1);
    const Bytes gate = sigmoid(body, position, x, kSlope, kMiddle).value();
    Chain(editors_.of(body), position, x).node("Mul", {gate}).finish(node.outputs[0]);
    editors_.of(body).remove_node(position);
    ++changes_.count;
  }

  void rewrite_sigmoid(std::size_t body, std::size_t position, const onnx::Node& node) {
    const auto alpha = onnx::float_setting(node, "alpha", 0.2F),
               beta = onnx::float_setting(node, "beta", 0.5F);
    if (!alpha || !beta || !(*alpha > 0) || !std::isfinite(*alpha) || !std::isfinite(*beta)) {
      changes_.left_alone.push_back(
          fmt::format("{}: its slope or its middle is not known here", place_of(index_, body, position)));
      return;
    }
    Bytes x = node.inputs[0];
    if (const Use* product = find_product(body, x, node.outputs[0])) {
      const Bytes held = limited(body, position, x, -*beta / *alpha, 2);
      if (held != x) editors_.of(body).edit_node(product->node).inputs[product->input] = held;
      x = held;
    }
    sigmoid(body, position, x, *alpha, *beta).finish(node.outputs[0]);
    editors_.of(body).remove_node(position);
    ++changes_.count;
  }

  // Where x is multiplied with what HardSigmoid makes of it, and that is used for nothing else.
  const Use* find_product(std::size_t body, Bytes x, Bytes gate) const {
    const graph::Value& made = *index_.find(body, gate).value;
    if (made.is_output || made.uses.size() != 1) return nullptr;
    const Use& use = made.uses[0];
    const onnx::Node& node = index_.node(use);
    if (use.body != body || !is_op(node, "Mul") || node.inputs[1 - use.input] != x) return nullptr;
    for (const Use& other : index_.find(body, x).value->uses) {
      if (other.body == body && other.node == use.node && other.input != use.input) return &other;
    }
    return nullptr;
  }

  graph::Index index_;
  Editors editors_;
  Changes changes_;
};

}  // namespace

Changes rewrite_hard_swish(onnx::Model& model) { return HardSwishRewrite(model).run(); }

}  // namespace ounce::passes
