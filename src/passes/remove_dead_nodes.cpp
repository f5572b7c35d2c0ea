#include "passes/remove_dead_nodes.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/index.h"
#include "passes/editors.h"

namespace ounce::passes {
namespace {

using graph::Body;
using graph::Index;
using graph::kNone;
using graph::Value;

bool has_outputs(const onnx::Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [](Bytes name) { return !name.empty(); });
}

// Marks what the outputs depend on, starting from those of the main graph and of every function.
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
  // Does the body run at all?
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
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> inside_;  // the bodies of a node
  std::unordered_set<const Value*> needed_;
  std::vector<std::pair<std::size_t, std::size_t>> waiting_;
};

class Removal {
 public:
  explicit Removal(onnx::Model& model)
      : model_(model), index_(model), life_(index_), editors_(model, index_) {}

  Changes run() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      if (!life_.is_reached(body)) continue;
      remove_nodes(body);
      if (index_.bodies()[body].graph == nullptr) continue;
      remove_initializers(body);
      remove_types(body);
    }
    editors_.finish();
    return std::move(changes_);
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

  // Of values that nothing defines any more, be it this pass or one before that took them away.
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

  onnx::Model& model_;
  Index index_;
  Life life_;
  Editors editors_;
  Changes changes_;
};

}  // namespace

Changes remove_dead_nodes(onnx::Model& model) { return Removal(model).run(); }

}  // namespace ounce::passes
