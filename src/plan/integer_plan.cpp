#include "plan/integer_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/planners.h"
#include "plan/seeds.h"

namespace ounce::plan {

std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kStatic: return "static";
    case Arithmetic::kDynamic: return "dynamic";
    case Arithmetic::kFloat: break;
  }
  return "float";
}

const IntegerPort* IntegerPlan::port(const ValueKey& value) const {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const IntegerPort& port) { return port.value == value; });
  return found == ports.end() ? nullptr : &*found;
}

std::string IntegerPlan::text() const {
  std::string text;
  for (const NodeDecision& node : nodes) {
    text += fmt::format("node {}:{} {}", node.body, node.node, name_of(node.arithmetic));
    if (node.is_integer()) {
      text += fmt::format(" -> {}{}{}\n", node.output, node.gives_codes ? ", codes" : "",
                          node.absorbed != kNone ? ", clamped by its codes" : "");
    } else {
      text += fmt::format(": {}\n", node.reason);
    }
  }
  for (const IntegerPort& port : ports) {
    text += fmt::format("{} {} {}{} scale {} zero {}\n", port.is_input ? "input" : "output",
                        port.value.second, onnx::name_of(port.type), port.is_raw ? ", raw" : "",
                        fmt::join(port.scales, ","), fmt::join(port.zeros, ","));
  }
  for (const auto& [key, coding] : codings) {
    text += fmt::format("value {}:{} {} scale {} zero {}\n", key.first, key.second,
                        onnx::name_of(coding.type), coding.scale, coding.zero);
  }
  return text;
}

StaticNeeds static_needs(const onnx::Model& model, const graph::Index& index) {
  Recipe recipe;
  recipe.format = Format::kStatic;
  recipe.integer.integer_io = true;
  Selection selection(recipe);
  const std::vector<Weight> weights = find_weights(index);
  Seeds seeds(model, index, weights, recipe.integer, selection);
  const IntegerPlan plan = plan_static(index, recipe, nullptr, seeds, selection);
  StaticNeeds needs;
  for (const auto& [key, coding] : plan.codings) needs.values.insert(key);
  for (const NodeDecision& decision : plan.nodes) {
    if (decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    needs.why_float.push_back(
        fmt::format("{} '{}': {}", node.op_type, graph::node_label(node, decision.node), decision.reason));
  }
  return needs;
}

IntegerPlan make_integer_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                              const std::vector<Weight>& weights, const observe::Ranges* ranges,
                              Selection& selection) {
  Seeds seeds(model, index, weights, recipe.integer, selection);
  if (recipe.format == Format::kDynamic) return plan_dynamic(model, index, recipe, seeds);
  if (recipe.format == Format::kStatic && ranges != nullptr)
    return plan_static(index, recipe, ranges, seeds, selection);
  return {};
}

}  // namespace ounce::plan
