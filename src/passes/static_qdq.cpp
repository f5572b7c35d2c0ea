#include "passes/static_qdq.h"

#include <algorithm>
#include <map>

#include "passes/coded_values.h"

namespace ounce::passes {

void put_static_qdq(Editors& editors, const graph::Index& index, const plan::IntegerPlan& plan) {
  CodedValues values(editors, index, plan);
  for (const plan::NodeDecision& decision : plan.nodes) {
    if (!decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    BodyEditor& editor = editors.of(decision.body);
    if (decision.gives_codes) {
      editor.edit_node(decision.node).outputs[0] = values.floats_behind(decision);
      if (decision.absorbed != graph::kNone) editor.remove_node(decision.absorbed);
    }
    for (std::size_t i = 0; i < decision.op->activations(node); ++i) {
      const Bytes input = values.decode(decision.body, node.inputs[i], decision.node);
      editor.edit_node(decision.node).inputs[i] = input;
    }
  }
}

}  // namespace ounce::passes
