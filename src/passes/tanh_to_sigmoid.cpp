#include "passes/tanh_to_sigmoid.h"

#include "onnx/settings.h"
#include "passes/chain.h"
#include "passes/code_paths.h"
#include "passes/editors.h"

namespace ounce::passes {

Changes tanh_to_sigmoid(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (!is_op(node, "Tanh") || !stands_between_integers(index, body, node)) return;
    BodyEditor& editor = editors.of(body);
    const Bytes two = editor.add_shared("number 2", scalar(ElementType::kFloat, 2.0F));
    const Bytes minus_one = editor.add_shared("number -1", scalar(ElementType::kFloat, -1.0F));
    Chain chain(editor, position, node.inputs[0]);
    chain.node("Mul", {two}).node("Sigmoid", {}).node("Mul", {two}).node("Add", {minus_one});
    chain.finish(node.outputs[0]);
    editor.remove_node(position);
    ++changes.count;
  });
  editors.finish();
  return changes;
}

}  // namespace ounce::passes
