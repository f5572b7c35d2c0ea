#include "passes/name_slices.h"

#include "onnx/settings.h"
#include "passes/editors.h"

namespace ounce::passes {

std::size_t name_slices(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  std::size_t named = 0;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (!node.name.empty() || (!is_op(node, "Gather") && !is_op(node, "Slice"))) return;
    BodyEditor& editor = editors.of(body);
    editor.edit_node(position).name = editor.names().fresh("n");
    ++named;
  });
  return named;
}

}  // namespace ounce::passes
