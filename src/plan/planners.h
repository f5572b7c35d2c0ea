// The two ways to plan integer arithmetic; integer_plan.h chooses between them, joins what they say, and has
// them plan anew while nodes disagree on a weight that they share (Seeds::keep_shared_weights_whole).
#pragma once

#include <set>

#include "graph/index.h"
#include "observe/ranges.h"
#include "plan/integer_plan.h"
#include "plan/seeds.h"
#include "plan/selection.h"

namespace ounce::plan {

// Without ranges every value is taken to have one. Nodes `in_floats` stay there. Says nothing of nodes that
// are asked to be dynamic.
IntegerPlan plan_static(const graph::Index& index, const Recipe& recipe, const observe::Ranges* ranges,
                        Seeds& seeds, Selection& selection, const std::set<const onnx::Node*>& in_floats);
// Whether a recipe's plan weighs what its nodes take: for processors that were measured, unless it says
// otherwise.
bool weighs_costs(const Recipe& recipe);
// The nodes that are faster in floats when all others are on integers (integer_costs.h). `seeds` are without
// wishes for single nodes: a search that moves these must not move others with them.
std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const Recipe& recipe,
                                             const observe::Ranges& ranges, Seeds& seeds,
                                             Selection& selection);
// Of a static recipe: only the nodes that are asked to be dynamic.
IntegerPlan plan_dynamic(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                         Seeds& seeds);

}  // namespace ounce::plan
