#include "search/tune/layer_roles.h"

#include <map>
#include <set>

#include "formats/onnx/graph/ports.h"

namespace ounce::search {
namespace {

using onnx::Bytes;

// Nodes between a layer and the attention it serves, at most.
constexpr std::size_t kFarthest = 32;

bool is_matmul(const onnx::Node& node) {
  return node.op_type == "MatMul" || node.op_type == "FusedMatMul" || node.op_type == "Einsum";
}
bool is_named_attention(const onnx::Node& node) { return node.op_type.find("Attention") != Bytes::npos; }
// Ops that pass on what they get, value by value: scores stay scores, heads stay heads.
bool keeps_values(const onnx::Node& node) {
  static const std::set<Bytes> kKeeping = {
      "Identity", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Cast",   "Dropout", "Add",  "Sub", "Mul",
      "Div",      "Where",     "Flatten", "Slice",   "Split",     "Concat", "Expand",  "Clip", "Max", "Min"};
  return kKeeping.contains(node.op_type);
}

// Nodes as vertices, with edges from the one that gives a value to those that take it.
class Flow {
 public:
  explicit Flow(const graph::Index& index) : index_(index) {
    for (std::size_t body = 0; body < index.bodies().size(); ++body) {
      first_.push_back(count_);
      count_ += index.bodies()[body].nodes().size();
    }
    next_.resize(count_);
    before_.resize(count_);
    for (const graph::Passage& passage : graph::passages(index)) {
      if (passage.way != graph::Way::kReturns)
        passages_[{passage.from.body, passage.from.name}].push_back(passage.to);
    }
    graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      for (const Bytes name : node.outputs) {
        if (!name.empty()) connect(number({body, position}), body, name);
      }
    });
  }

  std::size_t number(const NodePlace& place) const { return first_[place.first] + place.second; }
  std::size_t size() const { return count_; }
  const std::vector<std::size_t>& next(std::size_t node) const { return next_[node]; }
  const std::vector<std::size_t>& before(std::size_t node) const { return before_[node]; }

 private:
  void connect(std::size_t from, std::size_t body, Bytes name) {
    std::set<std::pair<std::size_t, Bytes>> seen;
    std::vector<std::pair<std::size_t, Bytes>> left = {{body, name}};
    while (!left.empty()) {
      const auto place = left.back();
      left.pop_back();
      if (!seen.insert(place).second) continue;
      const auto found = index_.find(place.first, place.second);
      if (found.value == nullptr) continue;
      for (const graph::Use& use : found.value->uses) {
        const std::size_t to = number({use.body, use.node});
        next_[from].push_back(to);
        before_[to].push_back(from);
        follow(use.body, index_.node(use).inputs[use.input], left);
      }
      follow(found.body, place.second, left);
    }
  }
  // Into a body, or out of it.
  void follow(std::size_t body, Bytes name, std::vector<std::pair<std::size_t, Bytes>>& left) const {
    const auto ways = passages_.find({index_.find(body, name).body, name});
    if (ways == passages_.end()) return;
    for (const graph::Place& to : ways->second) left.emplace_back(to.body, to.name);
  }

  const graph::Index& index_;
  std::vector<std::size_t> first_;
  std::size_t count_ = 0;
  std::vector<std::vector<std::size_t>> next_, before_;
  std::map<std::pair<std::size_t, Bytes>, std::vector<graph::Place>> passages_;
};

class Roles {
 public:
  Roles(const graph::Index& index, const std::vector<NodePlace>& layers)
      : flow_(index), layer_at_(flow_.size(), kNobody) {
    graph::for_each_node(index,
                         [&](std::size_t, std::size_t, const onnx::Node& node) { nodes_.push_back(&node); });
    for (const NodePlace& place : layers) layers_.push_back(flow_.number(place));
    for (std::size_t i = 0; i < layers_.size(); ++i) layer_at_[layers_[i]] = i;
  }

  std::vector<LayerRole> find() {
    roles_.resize(layers_.size());
    const std::vector<bool> fed = reached(true), wanted = reached(false);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      roles_[i].is_first = !fed[layers_[i]];
      roles_[i].is_last = !wanted[layers_[i]];
      if (is_named_attention(*nodes_[layers_[i]])) roles_[i].is_attention = true;
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node]->op_type == "Softmax") mark_written_out(node);
      if (is_named_attention(*nodes_[node])) mark_around(node, {node});
    }
    return std::move(roles_);
  }

 private:
  static constexpr std::size_t kNobody = graph::kNone;
  bool is_layer(std::size_t node) const { return layer_at_[node] != kNobody; }
  const std::vector<std::size_t>& neighbours(std::size_t node, bool forward) const {
    return forward ? flow_.next(node) : flow_.before(node);
  }

  // What lies behind some layer, or before one.
  std::vector<bool> reached(bool forward) const {
    std::vector<bool> is_reached(flow_.size());
    std::vector<std::size_t> left;
    const auto add = [&](std::size_t from) {
      for (const std::size_t node : neighbours(from, forward)) {
        if (is_reached[node]) continue;
        is_reached[node] = true;
        left.push_back(node);
      }
    };
    for (const std::size_t layer : layers_) add(layer);
    while (!left.empty()) {
      const std::size_t node = left.back();
      left.pop_back();
      add(node);
    }
    return is_reached;
  }

  // The nearest nodes that are wanted, where `passes` lets through all between.
  template <class Wanted, class Passes>
  std::vector<std::size_t> nearest(std::size_t from, bool forward, Wanted wanted, Passes passes) const {
    std::vector<std::size_t> found, round = {from};
    std::set<std::size_t> seen;
    for (std::size_t step = 0; step < kFarthest && !round.empty() && seen.size() < 8 * kFarthest; ++step) {
      std::vector<std::size_t> next;
      for (const std::size_t node : round) {
        for (const std::size_t other : neighbours(node, forward)) {
          if (!seen.insert(other).second) continue;
          if (wanted(other)) {
            found.push_back(other);
          } else if (passes(other)) {
            next.push_back(other);
          }
        }
      }
      round = std::move(next);
    }
    return found;
  }

  // MatMul … Softmax … MatMul, where both multiply what is computed.
  void mark_written_out(std::size_t softmax) {
    const auto is_product = [&](std::size_t node) { return is_matmul(*nodes_[node]) && !is_layer(node); };
    const auto passes = [&](std::size_t node) { return keeps_values(*nodes_[node]) && !is_layer(node); };
    const auto scores = nearest(softmax, false, is_product, passes);
    const auto mixed = nearest(softmax, true, is_product, passes);
    if (scores.empty() || mixed.empty()) return;
    for (const std::size_t node : scores) mark_around(node, {});
    for (const std::size_t node : mixed) mark_around(node, {node});
  }

  // The layers that feed `node`, and those that take what `givers` give.
  void mark_around(std::size_t node, const std::vector<std::size_t>& givers) {
    const auto wanted = [&](std::size_t other) { return is_layer(other); };
    const auto before = [&](std::size_t other) {  // shapes are no values
      const Bytes op = nodes_[other]->op_type;
      return op != "Softmax" && op != "Shape" && op != "Size";
    };
    const auto behind = [&](std::size_t other) {
      const Bytes op = nodes_[other]->op_type;
      return keeps_values(*nodes_[other]) && op != "Add" && op != "Sub" && op != "Mul" && op != "Div";
    };
    for (const std::size_t layer : nearest(node, false, wanted, before))
      roles_[layer_at_[layer]].is_attention = true;
    for (const std::size_t giver : givers) {
      for (const std::size_t layer : nearest(giver, true, wanted, behind))
        roles_[layer_at_[layer]].is_attention = true;
    }
  }

  Flow flow_;
  std::vector<const onnx::Node*> nodes_;
  std::vector<std::size_t> layers_, layer_at_;
  std::vector<LayerRole> roles_;
};

}  // namespace

std::vector<LayerRole> find_roles(const graph::Index& index, const std::vector<NodePlace>& layers) {
  return Roles(index, layers).find();
}

}  // namespace ounce::search
