#include "formats/onnx/plan/float_divisions.h"

#include <limits>

#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/integer_costs.h"

namespace ounce::plan {

std::vector<FloatDivision> float_divisions(const onnx::Model& model, const graph::Index& index,
                                           const Recipe& recipe, const calibration::Ranges& ranges,
                                           const std::map<std::string, double>& noise) {
  Selection selection(recipe);
  const std::vector<Weight> weights = find_weights(index);
  const NodeWishes none, wishes(index, recipe);
  Seeds seeds(model, index, weights, none, selection);
  const IntegerPlan plan = plan_static(index, recipe, &ranges, seeds, selection, {});
  std::map<const onnx::Node*, double> of_nodes;
  std::map<const onnx::Node*, std::string> paths;
  for (const NodeDecision& decision : plan.nodes) {
    if (!decision.is_integer() || !decision.op->has_weight()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    const std::string path = graph::value_path(index, decision.body, node.outputs[0]);
    const auto found = noise.find(path);
    const double of_node = found == noise.end() ? 0 : found->second;
    of_nodes.emplace(&node, wishes.of(node) ? std::numeric_limits<double>::infinity() : of_node);
    paths.emplace(&node, path);
  }
  std::vector<FloatDivision> divisions;
  for (const Division& division :
       quieter_divisions(index, plan, seeds, ranges, KernelCosts(costed_cpus(recipe.target)), of_nodes,
                         weighs_costs(recipe))) {
    FloatDivision& named = divisions.emplace_back(FloatDivision{{}, division.time});
    for (const onnx::Node* node : division.floats) {
      if (const auto path = paths.find(node); path != paths.end()) named.floats.insert(path->second);
    }
  }
  return divisions;
}

}  // namespace ounce::plan
