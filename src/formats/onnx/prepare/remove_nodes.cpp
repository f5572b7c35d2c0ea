#include "formats/onnx/prepare/remove_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {
namespace {

using graph::Body;
using graph::Index;
using graph::kNone;
using graph::Value;

bool has_outputs(const onnx::Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [](Bytes name) { return !name.empty(); });
}

// Marks everything that the outputs of the main graph and of all functions depend on.
class Life {
 public:
  explicit Life(const Index& index) : index_(index), alive_(index.bodies().size()) {
    for (std::size_t i = 0; i < index.bodies().size(); ++i) {
      const Body& body = index.bodies()[i];
      alive_[i].resize(body.nodes().size());
      if (body.parent != kNone) inside_[{body.parent, body.owner}].push_back(i);
    }
    for (std::size_t i = 0; i < index.bodies().size(); ++i) {
      if (index.bodies()[i].parent == kNone) enter(i);
    }
    while (!waiting_.empty()) {
      const auto [body, node] = waiting_.back();
      waiting_.pop_back();
      for (const Bytes name : index.bodies()[body].nodes()[node]->inputs) need(body, name);
      const auto inner = inside_.find({body, node});
      if (inner != inside_.end()) enter(inner->second);
    }
  }

  bool is_alive(std::size_t body, std::size_t node) const { return alive_[body][node]; }
  bool is_needed(const Value& value) const { return needed_.contains(&value); }
  // True if the body can run.
  bool is_reached(std::size_t body) const {
    for (const Body* at = &index_.bodies()[body]; at->parent != kNone; at = &index_.bodies()[at->parent]) {
      if (!alive_[at->parent][at->owner]) return false;
    }
    return true;
  }

 private:
  void enter(const std::vector<std::size_t>& bodies) {
    for (const std::size_t body : bodies) enter(body);
  }
  void enter(std::size_t id) {
    const Body& body = index_.bodies()[id];
    if (body.function != nullptr) {
      for (const Bytes name : body.function->outputs) need(id, name);
    } else {
      for (const auto& output : body.graph->outputs) need(id, output->name);
    }
    for (std::size_t i = 0; i < body.nodes().size(); ++i) {
      if (!has_outputs(*body.nodes()[i])) wake(id, i);
    }
  }

  void need(std::size_t body, Bytes name) {
    if (name.empty()) return;
    const auto [value, home] = index_.find(body, name);
    if (needed_.insert(value).second && value->producer != kNone) wake(home, value->producer);
  }

  void wake(std::size_t body, std::size_t node) {
    if (alive_[body][node]) return;
    alive_[body][node] = true;
    waiting_.emplace_back(body, node);
  }

  const Index& index_;
  std::vector<std::vector<bool>> alive_;                                            // by body and node
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> inside_;  // bodies by node
  std::unordered_set<const Value*> needed_;
  std::vector<std::pair<std::size_t, std::size_t>> waiting_;
};

class Removal : GraphRewrite {
 public:
  explicit Removal(onnx::Model& model) : GraphRewrite(model), life_(index_) {}

  Changes run() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      if (!life_.is_reached(body)) continue;
      remove_nodes(body);
      if (index_.bodies()[body].graph == nullptr) continue;
      remove_initializers(body);
      remove_types(body);
    }
    return finish();
  }

 private:
  void remove_nodes(std::size_t body) {
    for (std::size_t i = 0; i < index_.bodies()[body].nodes().size(); ++i) {
      if (life_.is_alive(body, i)) continue;
      editors_.of(body).remove_node(i);
      ++changes_.count;
    }
  }

  bool is_dead_initializer(const Value& value) const {
    return value.initializer != kNone && !value.is_input && !life_.is_needed(value) &&
           model_.proto->training.empty();
  }

  void remove_initializers(std::size_t body) {
    const Body& home = index_.bodies()[body];
    for (std::size_t i = 0; i < home.graph->initializers.size(); ++i) {
      if (!is_dead_initializer(home.values.at(home.graph->initializers[i]->name))) continue;
      editors_.of(body).remove_initializer(i);
      ++changes_.count;
    }
  }

  // Removes types of values that no node defines any more, because of this pass or an earlier one.
  void remove_types(std::size_t body) {
    const Body& home = index_.bodies()[body];
    const auto is_gone = [&](const onnx::Kept<onnx::ValueInfo>& info) {
      const auto found = home.values.find(info->name);
      if (found == home.values.end()) return true;
      const Value& value = found->second;
      return is_dead_initializer(value) || (value.producer != kNone && !life_.is_alive(body, value.producer));
    };
    const auto& infos = home.graph->value_infos;
    if (std::any_of(infos.begin(), infos.end(), is_gone))
      std::erase_if(editors_.of(body).edit_graph().value_infos, is_gone);
  }

  Life life_;
};

}  // namespace

Changes remove_dead_nodes(onnx::Model& model) { return Removal(model).run(); }

namespace {

using graph::Index;
using graph::kNone;
using graph::Value;

bool is_unused(const Index& index, std::size_t body, Bytes name) {
  if (name.empty()) return true;
  const Value& value = *index.find(body, name).value;
  return value.uses.empty() && !value.is_output;
}

// Training mode is an attribute before opset 7, does not exist until 12, and is an input from then on.
bool is_idle_dropout(const onnx::Model& model, const Index& index, std::size_t body, const onnx::Node& node) {
  const std::int64_t opset = opset_of(model, index, body);
  if (opset < 7) return integer_setting(node, "is_test", 0) == 1;
  const Bytes training = input_of(node, 2);
  if (training.empty()) return true;
  const auto constant = find_constant(model, index, body, training);
  if (!constant || constant->tensor->type != ElementType::kBool || constant->tensor->element_count() != 1)
    return false;
  return onnx::RawValues(*constant->tensor).bytes()[0] == 0;
}

bool hands_on(const onnx::Model& model, const Index& index, std::size_t body, const onnx::Node& node) {
  if (node.inputs.empty() || node.inputs[0].empty() || node.outputs.empty() || node.outputs[0].empty())
    return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (!is_unused(index, body, node.outputs[i])) return false;
  }
  return node.op() == Op::kIdentity ||
         (node.op() == Op::kDropout && is_idle_dropout(model, index, body, node));
}

// Calls visit(body, position, node) for every node that returns its input unchanged.
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

// A value and its name. The name alone does not identify the body.
struct Source {
  const Value* value;
  Bytes name;
};
using Sources = std::unordered_map<const Value*, Source>;

// Resolves a value through all nodes that return it unchanged. Compresses the path for later calls.
Source origin_of(Sources& sources, const Value* value) {
  std::vector<Source*> way;
  for (auto found = sources.find(value); found != sources.end(); found = sources.find(value)) {
    way.push_back(&found->second);
    value = found->second.value;
    if (way.size() > sources.size()) break;  // a cycle, which graph::validate rejects
  }
  const Source origin = *way.back();
  for (Source* step : way) *step = origin;
  return origin;
}

// Makes users of the output use the input instead.
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

// Gives the output's name to the input, if it is produced in the same body and is not an output itself.
std::size_t rename_producers(onnx::Model& model, std::vector<std::string>& left_alone) {
  const Index index(model);
  Editors editors(model, index);
  std::unordered_set<const Value*> renamed;
  for_each_idle(model, index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    const Bytes from = node.inputs[0], to = node.outputs[0];
    const auto [source, home] = index.find(body, from);
    // A name assigned by this pass already belongs to an output.
    const bool is_free = source != nullptr && home == body && source->producer != kNone &&
                         !source->is_output && !renamed.contains(source);
    if (!is_free || !index.bodies()[body].values.at(to).is_output) {
      left_alone.push_back(fmt::format("{}: its input and its output must both keep their names",
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
