#include "passes/remove_identity.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "onnx/settings.h"
#include "onnx/values.h"
#include "passes/constants.h"
#include "passes/editors.h"

namespace ounce::passes {
namespace {

using graph::Index;
using graph::kNone;
using graph::Value;

bool is_unused(const Index& index, std::size_t body, Bytes name) {
  if (name.empty()) return true;
  const Value& value = *index.find(body, name).value;
  return value.uses.empty() && !value.is_output;
}

// Training is an attribute before opset 7, impossible until 12, and an input from then on.
bool is_idle_dropout(const onnx::Model& model, const Index& index, std::size_t body, const onnx::Node& node) {
  const std::int64_t opset = opset_of(model, index, body);
  if (opset < 7) return integer_setting(node, "is_test", 0) == 1;
  const Bytes training = input_of(node, 2);
  if (training.empty()) return true;
  const auto constant = find_constant(model, index, body, training);
  if (!constant || constant->tensor->type != ElementType::kBool ||
      constant->tensor->element_count() != 1)
    return false;
  return onnx::RawValues(*constant->tensor).bytes()[0] == 0;
}

bool hands_on(const onnx::Model& model, const Index& index, std::size_t body, const onnx::Node& node) {
  if (node.inputs.empty() || node.inputs[0].empty() || node.outputs.empty() || node.outputs[0].empty())
    return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (!is_unused(index, body, node.outputs[i])) return false;
  }
  return is_op(node, "Identity") || (is_op(node, "Dropout") && is_idle_dropout(model, index, body, node));
}

// Calls visit(body, position, node) for every node that hands on its input.
template <class Visit>
void for_each_idle(const onnx::Model& model, const Index& index, Visit visit) {
  for (std::size_t body = 0; body < index.bodies().size(); ++body) {
    const auto& nodes = index.bodies()[body].nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (hands_on(model, index, body, *nodes[i])) visit(body, i, *nodes[i]);
    }
  }
}

void rename_uses(Editors& editors, const Value& value, Bytes name) {
  for (const graph::Use& use : value.uses) editors.of(use.body).edit_node(use.node).inputs[use.input] = name;
}

// A value and its name, which alone would not say which body's it is.
struct Source {
  const Value* value;
  Bytes name;
};
using Sources = std::unordered_map<const Value*, Source>;

// What a value is in the end, through all the nodes that hand it on. Shortens the way for the next one.
Source origin_of(Sources& sources, const Value* value) {
  std::vector<Source*> way;
  for (auto found = sources.find(value); found != sources.end(); found = sources.find(value)) {
    way.push_back(&found->second);
    value = found->second.value;
    if (way.size() > sources.size()) break;  // a cycle, which graph::verify refuses
  }
  const Source origin = *way.back();
  for (Source* step : way) *step = origin;
  return origin;
}

// Whoever uses the output takes the input instead.
std::size_t bypass_inner(onnx::Model& model) {
  const Index index(model);
  Editors editors(model, index);
  Sources sources;
  std::vector<const Value*> order;
  for_each_idle(model, index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    const Value* output = index.find(body, node.outputs[0]).value;
    if (output->is_output) return;
    sources[output] = {index.find(body, node.inputs[0]).value, node.inputs[0]};
    order.push_back(output);
    editors.of(body).remove_node(position);
  });
  for (const Value* value : order) rename_uses(editors, *value, origin_of(sources, value).name);
  editors.finish();
  return order.size();
}

// The input, made in the same body and no output itself, gets the output's name.
std::size_t rename_producers(onnx::Model& model, std::vector<std::string>& left_alone) {
  const Index index(model);
  Editors editors(model, index);
  std::unordered_set<const Value*> renamed;
  for_each_idle(model, index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    const Bytes from = node.inputs[0], to = node.outputs[0];
    const auto [source, home] = index.find(body, from);
    // A name that this pass has given is an output's already.
    const bool is_free = source != nullptr && home == body && source->producer != kNone &&
                         !source->is_output && !renamed.contains(source);
    if (!is_free || !index.bodies()[body].values.at(to).is_output) {
      left_alone.push_back(fmt::format("{}: its input and its output both have to keep their names",
                                       place_of(index, body, position)));
      return;
    }
    renamed.insert(source);
    rename_uses(editors, *source, to);
    for (Bytes& output : editors.of(body).edit_node(source->producer).outputs) {
      if (output == from) output = to;
    }
    editors.of(body).remove_node(position);
  });
  editors.finish();
  return renamed.size();
}

}  // namespace

Changes remove_identity(onnx::Model& model) {
  Changes changes;
  changes.count = bypass_inner(model);
  changes.count += rename_producers(model, changes.left_alone);
  return changes;
}

}  // namespace ounce::passes
