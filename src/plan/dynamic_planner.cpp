#include <fmt/format.h>

#include "plan/dynamic_kernels.h"
#include "plan/planners.h"

namespace ounce::plan {
namespace {

class DynamicPlanner {
 public:
  DynamicPlanner(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, Seeds& seeds)
      : model_(model),
        index_(index),
        recipe_(recipe.integer),
        gemm_(recipe.format == Format::kStatic ? GemmForm::kWhole : GemmForm::kSplit),
        seeds_(seeds) {}

  IntegerPlan make() {
    const bool is_among_static = gemm_ == GemmForm::kWhole;
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (is_among_static ? seeds_.is_asked_dynamic(node) : is_worth_a_reason(node)) decide(body, position);
    });
    return std::move(plan_);
  }

 private:
  std::string why_not(std::size_t body, const onnx::Node& node, const IntegerOp* op) const {
    if (op == nullptr)
      return first_of(seeds_.why_asked(node), fmt::format("{} has no dynamic kernel", node.op_type));
    if (node.outputs.empty()) return "it has no output";
    if (op->kind == IntegerKind::kLstm)
      return first_of(seeds_.why_excluded(body, node, {1, 2}),
                      why_not_dynamic_lstm(model_, index_, body, node));
    if (op->kind == IntegerKind::kAttention)
      return first_of(seeds_.why_excluded(body, node, {1}),
                      why_not_dynamic_attention(model_, index_, body, node));
    if (op->kind == IntegerKind::kConv && !recipe_.force_conv)
      return first_of(seeds_.why_asked(node),
                      "ConvInteger is several times slower than FP32 (`integer.force_conv`)");
    return seeds_.why_not(body, node);
  }
  static std::string first_of(std::string a, std::string b) { return a.empty() ? b : a; }

  void decide(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    NodeDecision decision;
    decision.body = body;
    decision.node = position;
    decision.op = find_dynamic_op(node, gemm_);
    decision.reason = why_not(body, node, decision.op);
    if (decision.reason.empty()) {
      decision.arithmetic = Arithmetic::kDynamic;
      decision.output = node.outputs[0];
    }
    plan_.nodes.push_back(std::move(decision));
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  const IntegerRecipe& recipe_;
  GemmForm gemm_;
  Seeds& seeds_;
  IntegerPlan plan_;
};

}  // namespace

IntegerPlan plan_dynamic(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                         Seeds& seeds) {
  return DynamicPlanner(model, index, recipe, seeds).make();
}

}  // namespace ounce::plan
