#include "passes/division_to_product.h"

#include <cmath>

#include "onnx/settings.h"
#include "passes/chain.h"
#include "passes/code_paths.h"
#include "passes/constants.h"
#include "passes/editors.h"

namespace ounce::passes {

Changes division_to_product(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (!is_op(node, "Div") || !stands_between_integers(index, body, node)) return;
    const auto constant = find_constant(model, index, body, input_of(node, 1));
    if (!constant || constant->tensor->type != ElementType::kFloat ||
        constant->tensor->element_count() != 1)
      return;
    const float factor = 1 / floats_of(*constant->tensor)[0];
    if (!std::isnormal(factor) || !std::isnormal(1 / factor)) return;
    BodyEditor& editor = editors.of(body);
    const Bytes name = editor.add_tensor(position, float_tensor(constant->tensor->dims, std::vector{factor}));
    Chain(editor, position, node.inputs[0]).node("Mul", {name}).finish(node.outputs[0]);
    editor.remove_node(position);
    ++changes.count;
  });
  editors.finish();
  return changes;
}

}  // namespace ounce::passes
