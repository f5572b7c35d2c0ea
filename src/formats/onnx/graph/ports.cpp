#include "formats/onnx/graph/ports.h"

#include <algorithm>

#include "formats/onnx/file/attributes.h"

namespace ounce::graph {
namespace {

std::string key_of(Bytes domain, Bytes name) {
  std::string key(onnx::is_default_domain(domain) ? Bytes() : domain);
  return key.append("\n").append(name);
}

class Passages {
 public:
  explicit Passages(const Index& index) : index_(index) {
    for (std::size_t id = 0; id < index.bodies().size(); ++id) {
      if (index.bodies()[id].parent != kNone) add_subgraph(id);
    }
    const Functions functions(index);
    for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
      const std::size_t function = functions.called_by(node);
      if (function != kNone) add_call(body, node, function);
    });
  }

  std::vector<Passage> take() { return std::move(passages_); }

 private:
  void add_subgraph(std::size_t id) {
    const Body& body = index_.bodies()[id];
    const onnx::Node& owner = *index_.bodies()[body.parent].nodes()[body.owner];
    const auto& inputs = body.graph->inputs;
    const auto& outputs = body.graph->outputs;
    if (owner.op() == Op::kIf) return leave(body.parent, owner, id, 0);
    if (owner.op() == Op::kLoop) {
      enter(body.parent, owner, 2, id, 2);
      leave(body.parent, owner, id, 1);
      for (std::size_t i = 2; i < inputs.size() && i - 1 < outputs.size(); ++i)
        add(Way::kReturns, {id, outputs[i - 1]->name}, {id, inputs[i]->name});
      return;
    }
    if (owner.op() != Op::kScan || owner.inputs.size() < inputs.size()) return;
    const auto scanned = onnx::integer_setting(owner, "num_scan_inputs", 0);
    const std::size_t before = owner.inputs.size() - inputs.size();  // opset 8 has sequence lengths first
    enter(body.parent, owner, before, id, 0);
    leave(body.parent, owner, id, 0);
    if (!scanned || *scanned < 0 || static_cast<std::size_t>(*scanned) > inputs.size()) return;
    for (std::size_t i = 0; i + static_cast<std::size_t>(*scanned) < inputs.size() && i < outputs.size(); ++i)
      add(Way::kReturns, {id, outputs[i]->name}, {id, inputs[i]->name});
  }

  void add_call(std::size_t body, const onnx::Node& node, std::size_t id) {
    const onnx::Function& function = *index_.bodies()[id].function;
    for (std::size_t i = 0; i < std::min(node.inputs.size(), function.inputs.size()); ++i)
      add(Way::kEnters, {body, node.inputs[i]}, {id, function.inputs[i]});
    for (std::size_t i = 0; i < std::min(node.outputs.size(), function.outputs.size()); ++i)
      add(Way::kLeaves, {id, function.outputs[i]}, {body, node.outputs[i]});
  }

  // `first` is the first input of the node that its body receives, as the body's input `inner`.
  void enter(std::size_t parent, const onnx::Node& node, std::size_t first, std::size_t id,
             std::size_t inner) {
    const auto& inputs = index_.bodies()[id].graph->inputs;
    for (std::size_t i = first; i < node.inputs.size() && inner < inputs.size(); ++i, ++inner)
      add(Way::kEnters, {parent, node.inputs[i]}, {id, inputs[inner]->name});
  }

  // `first` is the output of the body that becomes the first output of the node.
  void leave(std::size_t parent, const onnx::Node& node, std::size_t id, std::size_t first) {
    const auto& outputs = index_.bodies()[id].graph->outputs;
    for (std::size_t i = 0; i < node.outputs.size() && first + i < outputs.size(); ++i)
      add(Way::kLeaves, {id, outputs[first + i]->name}, {parent, node.outputs[i]});
  }

  void add(Way way, Place from, Place to) {
    if (!from.name.empty() && !to.name.empty()) passages_.push_back({way, from, to});
  }

  const Index& index_;
  std::vector<Passage> passages_;
};

}  // namespace

Functions::Functions(const Index& index) {
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const onnx::Function* function = index.bodies()[id].function;
    if (function == nullptr) continue;
    const auto [entry, is_new] = bodies_.emplace(key_of(function->domain, function->name), id);
    if (!is_new) entry->second = kNone;
  }
}

bool Functions::are_called_by(const onnx::Node& node) const {
  return !bodies_.empty() && bodies_.contains(key_of(node.domain(), node.op_type()));
}

std::size_t Functions::called_by(const onnx::Node& node) const {
  if (bodies_.empty()) return kNone;
  const auto found = bodies_.find(key_of(node.domain(), node.op_type()));
  return found == bodies_.end() ? kNone : found->second;
}

std::vector<Passage> passages(const Index& index) { return Passages(index).take(); }

}  // namespace ounce::graph
