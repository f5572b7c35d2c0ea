#include "formats/onnx/plan/integer_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/integer_costs.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

// Adds the dynamic nodes to a static plan, in file order.
void add_nodes(IntegerPlan& plan, IntegerPlan dynamic) {
  plan.nodes.insert(plan.nodes.end(), std::make_move_iterator(dynamic.nodes.begin()),
                    std::make_move_iterator(dynamic.nodes.end()));
  std::stable_sort(plan.nodes.begin(), plan.nodes.end(), [](const NodeDecision& a, const NodeDecision& b) {
    return std::tie(a.body, a.node) < std::tie(b.body, b.node);
  });
}

// Repeats the planning until all users of each weight agree.
template <class Make>
IntegerPlan plan_whole(IntegerCandidates& candidates, Make make) {
  IntegerPlan plan = make();
  while (candidates.keep_shared_weights_whole(plan)) plan = make();
  candidates.note_constants(plan);
  return plan;
}

void require_no_dynamic_nodes(const Recipe& recipe) {
  for (const auto& [name, format] : recipe.nodes) {
    if (!is_dynamic(format)) continue;
    throw Error(
        ErrorCode::kUsage,
        fmt::format(
            "`nodes` '{}=int8-dynamic': this model is already quantized statically and keeps its scales",
            name));
  }
}

}  // namespace

std::string IntegerPlan::text() const {
  std::string text;
  for (const NodeDecision& node : nodes) {
    text += fmt::format("node {}:{} {}", node.body, node.node, name_of(node.arithmetic));
    if (node.is_integer()) {
      text += fmt::format(" -> {}{}{}\n", node.output,
                          node.is_rescale_only ? ", the same codes"
                          : node.gives_codes   ? ", codes"
                                               : "",
                          node.absorbed != kNone ? ", clamped by its codes" : "");
    } else {
      text += fmt::format(": {}\n", node.reason);
    }
  }
  for (const IntegerPort& port : ports) {
    text += fmt::format("{} {} {}{} scale {} zero {}\n", port.is_input ? "input" : "output",
                        port.value.second, name_of(port.type), port.is_raw ? ", raw" : "",
                        fmt::join(port.scales, ","), fmt::join(port.zeros, ","));
  }
  for (const auto& [key, quantization] : activations) {
    text += fmt::format("value {}:{} {} scale {} zero {}\n", key.first, key.second,
                        name_of(quantization.type), quantization.scale, quantization.zero);
  }
  for (const auto& [key, number] : numbers) {
    text += fmt::format("number {}:{} {} scale {} zero {} code {}\n", key.first, key.second,
                        name_of(number.quantization.type), number.quantization.scale,
                        number.quantization.zero, number.code);
  }
  return text;
}

StaticNeeds static_needs(const onnx::Model& model, const graph::Index& index) {
  Recipe recipe;
  recipe.format = format_with(Arithmetic::kStatic);
  recipe.integer.integer_io = true;
  Selection selection(recipe);
  const std::vector<Weight> weights = find_weights(index);
  const NodeOverrides none;
  IntegerCandidates candidates(model, index, weights, none, selection);
  const IntegerPlan plan =
      plan_whole(candidates, [&] { return plan_static(index, recipe, nullptr, candidates, selection, {}); });
  StaticNeeds needs;
  for (const auto& [key, quantization] : plan.activations) needs.values.insert(key);
  for (const NodeDecision& decision : plan.nodes) {
    if (decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    needs.why_float.push_back(
        fmt::format("{} '{}': {}", node.op_type(), graph::node_label(node, decision.node), decision.reason));
  }
  return needs;
}

IntegerPlan make_integer_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                              const std::vector<Weight>& weights, const calibration::Ranges* ranges,
                              const NodeOverrides& overrides, Selection& selection) {
  if (!recipe.is_integer()) return {};
  const bool is_static = ounce::is_static(recipe.format);
  if (is_static && ranges == nullptr) {
    require_no_dynamic_nodes(recipe);
    return {};
  }
  std::set<const onnx::Node*> in_floats;
  if (is_static) {
    const NodeOverrides none;
    IntegerCandidates as_they_are(model, index, weights, none, selection);
    in_floats = faster_in_floats(index, recipe, *ranges, as_they_are, selection);
  }
  IntegerCandidates candidates(model, index, weights, overrides, selection);
  return plan_whole(candidates, [&] {
    IntegerPlan dynamic = plan_dynamic(model, index, recipe, candidates);
    if (!is_static) return dynamic;
    IntegerPlan plan = plan_static(index, recipe, ranges, candidates, selection, in_floats);
    add_nodes(plan, std::move(dynamic));
    return plan;
  });
}

std::vector<FloatAssignment> float_assignments(const onnx::Model& model, const graph::Index& index,
                                               const Recipe& recipe, const calibration::Ranges& ranges,
                                               const std::map<std::string, double>& noise) {
  Selection selection(recipe);
  const std::vector<Weight> weights = find_weights(index);
  const NodeOverrides none, overrides(index, recipe);
  IntegerCandidates candidates(model, index, weights, none, selection);
  const IntegerPlan plan = plan_static(index, recipe, &ranges, candidates, selection, {});
  std::map<const onnx::Node*, double> of_nodes;
  std::map<const onnx::Node*, std::string> paths;
  for (const NodeDecision& decision : plan.nodes) {
    if (!decision.is_integer() || !decision.op->has_weight()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    const std::string path = graph::value_path(index, decision.body, node.outputs[0]);
    const auto found = noise.find(path);
    const double of_node = found == noise.end() ? 0 : found->second;
    of_nodes.emplace(&node, overrides.of(node) ? std::numeric_limits<double>::infinity() : of_node);
    paths.emplace(&node, path);
  }
  std::vector<FloatAssignment> assignments;
  for (const NodeAssignment& assignment :
       frontier(index, plan, candidates, ranges, KernelCosts(costed_cpus(recipe.target)), of_nodes,
                uses_cost_model(recipe))) {
    FloatAssignment& named = assignments.emplace_back(FloatAssignment{{}, assignment.time});
    for (const onnx::Node* node : assignment.floats) {
      if (const auto path = paths.find(node); path != paths.end()) named.floats.insert(path->second);
    }
  }
  return assignments;
}

}  // namespace ounce::plan
