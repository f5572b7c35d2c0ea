#include "search/tune/layers.h"

#include <algorithm>
#include <map>
#include <set>

#include "formats/onnx/graph/ports.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/plan/weights.h"
#include "model/blocks.h"

namespace ounce::search {
namespace {

using graph::Index;

struct User {
  NodePlace place;
  bool is_direct = true;  // false: the weight passes through ops that move values
};

// Finds the nodes that multiply with a weight or look up rows of it.
void find_users(const Index& index, const graph::Value& value, bool is_direct, int& steps_left,
                std::vector<User>& users) {
  for (const graph::Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    const bool is_slot = node.info().weight(use.input).has_value();
    const std::size_t before = users.size();
    if (node.info().moves_weight(use.input) && !node.outputs.empty() && steps_left-- > 0) {
      const auto moved = index.find(use.body, node.outputs[0]);
      if (moved.value != nullptr) find_users(index, *moved.value, false, steps_left, users);
    }
    if (is_slot && users.size() == before) users.push_back({{use.body, use.node}, is_direct});
  }
}

struct Draft {
  Layer layer;
  std::vector<std::string> tensors;  // names of its weights
  bool is_direct = true;
};

std::map<NodePlace, Draft> collect(const Index& index, std::uint64_t least_bytes) {
  std::map<NodePlace, Draft> drafts;
  for (const plan::Weight& weight : plan::find_weights(index)) {
    if (!weight.fits_nbits() || weight.feeds_quantized_op || weight.tensor->byte_count() < least_bytes)
      continue;
    std::vector<User> users;
    int steps_left = plan::kLongestSearch;
    find_users(index, *weight.value, true, steps_left, users);
    std::sort(users.begin(), users.end(), [](const User& a, const User& b) { return a.place < b.place; });
    users.erase(std::unique(users.begin(), users.end(),  // several paths may lead to one node
                            [](const User& a, const User& b) { return a.place == b.place; }),
                users.end());
    bool is_counted = false;
    for (const User& user : users) {
      const onnx::Node& node = *index.bodies()[user.place.first].nodes()[user.place.second];
      if (node.outputs.empty() || node.outputs[0].empty()) continue;
      Draft& draft = drafts[user.place];
      draft.is_direct &= user.is_direct;
      draft.layer.weights.push_back(graph::value_path(index, weight.graph, weight.name));
      draft.tensors.emplace_back(weight.name);
      if (!is_counted) draft.layer.values += weight.tensor->element_count();
      is_counted = true;
    }
  }
  return drafts;
}

// A node's name selects its weights if they are direct inputs and no other node, tensor or op has that name.
std::vector<std::string> expressions_for(const Draft& draft, const std::map<std::string, int>& names) {
  const auto found = names.find(draft.layer.name);
  if (draft.is_direct && found != names.end() && found->second == 1)
    return {exact_expression(draft.layer.name)};
  std::vector<std::string> expressions;
  for (const std::string& tensor : draft.tensors) expressions.push_back(exact_expression(tensor));
  return expressions;
}

}  // namespace

std::string exact_expression(const std::string& name) {
  std::string text = "^";
  for (const char c : name) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + "$";
}

std::vector<Layer> find_layers(const Index& index, std::uint64_t least_bytes) {
  std::map<NodePlace, Draft> drafts = collect(index, least_bytes);
  std::map<std::string, int> names;  // number of nodes, tensors and ops with a name
  graph::for_each_node(index, [&](std::size_t, std::size_t, const onnx::Node& node) {
    if (!node.name.empty()) ++names[std::string(node.name)];
    ++names[std::string(node.op_type())];
  });
  for (const plan::Weight& weight : plan::find_weights(index)) ++names[std::string(weight.name)];
  std::vector<NodePlace> places;
  std::vector<Layer> layers;
  for (auto& [place, draft] : drafts) {
    const onnx::Node& node = *index.bodies()[place.first].nodes()[place.second];
    draft.layer.output = graph::value_path(index, place.first, node.outputs[0]);
    draft.layer.op_type = node.op_type();
    draft.layer.name = node.name;
    draft.layer.expressions = expressions_for(draft, names);
    draft.layer.is_moved = !draft.is_direct;
    if (node.name.empty()) draft.layer.name = draft.tensors.front();
    places.push_back(place);
    layers.push_back(std::move(draft.layer));
  }
  const std::vector<LayerRole> roles = find_roles(index, places);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].is_first = roles[i].is_first;
    layers[i].is_last = roles[i].is_last;
    layers[i].is_attention = roles[i].is_attention;
  }
  return layers;
}

namespace {

std::vector<Group> by(const std::vector<Layer>& layers, std::string (*name_of)(const Layer&)) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = name_of(layers[i]);
    const auto [place, is_new] = places.try_emplace(name, groups.size());
    if (is_new) groups.push_back({name, {}});
    groups[place->second].layers.push_back(i);
  }
  return groups;
}

// Joins neighboring groups until there are at most `most`.
std::vector<Group> joined(const std::vector<Group>& groups, std::size_t most) {
  if (groups.size() <= most) return groups;
  std::vector<Group> fewer;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t first = i * groups.size() / most, last = (i + 1) * groups.size() / most - 1;
    Group& group = fewer.emplace_back(groups[first]);
    for (std::size_t k = first + 1; k <= last; ++k)
      group.layers.insert(group.layers.end(), groups[k].layers.begin(), groups[k].layers.end());
    if (last != first) group.name += " … " + groups[last].name;
  }
  return fewer;
}

std::vector<Group> blocks_of(const std::vector<Layer>& layers, std::size_t most) {
  return joined(by(layers,
                   [](const Layer& layer) {
                     const std::string_view block = model::numbered_scope(layer.name);
                     return block.empty() ? layer.name : std::string(block);
                   }),
                std::max<std::size_t>(most, 1));
}

// Puts layers that share a weight in one group, because a weight has one format.
std::vector<Group> each_alone(const std::vector<Layer>& layers) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> owners;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::size_t place = groups.size();
    for (const std::string& weight : layers[i].weights) {
      if (const auto owner = owners.find(weight); owner != owners.end()) place = owner->second;
    }
    if (place == groups.size()) groups.push_back({layers[i].name, {}});
    groups[place].layers.push_back(i);
    for (const std::string& weight : layers[i].weights) owners.emplace(weight, place);
  }
  return groups;
}

}  // namespace

std::vector<Group> group_layers(const std::vector<Layer>& layers, Grouping grouping,
                                std::size_t most_blocks) {
  if (grouping == Grouping::kBlock) return blocks_of(layers, most_blocks);
  if (grouping == Grouping::kOpType) return by(layers, [](const Layer& layer) { return layer.op_type; });
  return each_alone(layers);
}

namespace {

using onnx::Bytes;

// Largest number of nodes between a layer and its attention.
constexpr std::size_t kFarthest = 32;

bool is_named_attention(const onnx::Node& node) { return node.op_type().find("Attention") != Bytes::npos; }
// Ops between a MatMul of attention and its Softmax or layers: they change values one by one or only move
// them.
bool keeps_values(Op op) {
  static const std::set<Op> kKeeping = {
      Op::kIdentity, Op::kTranspose, Op::kReshape, Op::kSqueeze, Op::kUnsqueeze, Op::kCast,    Op::kDropout,
      Op::kAdd,      Op::kSub,       Op::kMul,     Op::kDiv,     Op::kWhere,     Op::kFlatten, Op::kSlice,
      Op::kSplit,    Op::kConcat,    Op::kExpand,  Op::kClip,    Op::kMax,       Op::kMin};
  return kKeeping.contains(op);
}

// Nodes of all bodies are numbered in their order.
class Flow {
 public:
  explicit Flow(const graph::Index& index) : index_(index) {
    std::size_t count = 0;
    for (const graph::Body& body : index.bodies()) {
      first_.push_back(count);
      count += body.nodes().size();
    }
    graph_.next.resize(count);
    graph_.before.resize(count);
    for (const graph::Passage& passage : graph::passages(index)) {
      if (passage.way != graph::Way::kReturns)
        passages_[{passage.from.body, passage.from.name}].push_back(passage.to);
    }
    graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      graph_.nodes.push_back(role_of(node.op()));
      graph_.nodes.back().is_attention = is_named_attention(node);
      for (const Bytes name : node.outputs) {
        if (!name.empty()) connect(number({body, position}), body, name);
      }
    });
  }

  std::size_t number(const NodePlace& place) const { return first_[place.first] + place.second; }
  const RoleGraph& graph() const { return graph_; }

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
        graph_.next[from].push_back(to);
        graph_.before[to].push_back(from);
        follow(use.body, index_.node(use).inputs[use.input], left);
      }
      follow(found.body, place.second, left);
    }
  }
  // Follows a value into a body or out of it.
  void follow(std::size_t body, Bytes name, std::vector<std::pair<std::size_t, Bytes>>& left) const {
    const auto ways = passages_.find({index_.find(body, name).body, name});
    if (ways == passages_.end()) return;
    for (const graph::Place& to : ways->second) left.emplace_back(to.body, to.name);
  }

  const graph::Index& index_;
  std::vector<std::size_t> first_;
  RoleGraph graph_;
  std::map<std::pair<std::size_t, Bytes>, std::vector<graph::Place>> passages_;
};

class Roles {
 public:
  Roles(const RoleGraph& graph, const std::vector<std::size_t>& layers)
      : graph_(graph), layers_(layers), layer_at_(graph.nodes.size(), kNobody) {
    for (std::size_t i = 0; i < layers_.size(); ++i) layer_at_[layers_[i]] = i;
  }

  std::vector<LayerRole> find() {
    roles_.resize(layers_.size());
    const std::vector<bool> fed = reached(true), wanted = reached(false);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      roles_[i].is_first = !fed[layers_[i]];
      roles_[i].is_last = !wanted[layers_[i]];
      if (graph_.nodes[layers_[i]].is_attention) roles_[i].is_attention = true;
    }
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      if (graph_.nodes[node].is_softmax) mark_written_out(node);
      if (graph_.nodes[node].is_attention) mark_around(node, {node});
    }
    return std::move(roles_);
  }

 private:
  static constexpr std::size_t kNobody = graph::kNone;
  bool is_layer(std::size_t node) const { return layer_at_[node] != kNobody; }
  const std::vector<std::size_t>& neighbours(std::size_t node, bool forward) const {
    return forward ? graph_.next[node] : graph_.before[node];
  }

  // The nodes that some layer reaches, forward or backward.
  std::vector<bool> reached(bool forward) const {
    std::vector<bool> is_reached(graph_.nodes.size());
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

  // The nearest nodes for which `wanted` is true, across nodes for which `passes` is true.
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

  // Attention as MatMul, Softmax, MatMul, where both MatMuls multiply computed values.
  void mark_written_out(std::size_t softmax) {
    const auto is_product = [&](std::size_t node) {
      return graph_.nodes[node].is_product && !is_layer(node);
    };
    const auto passes = [&](std::size_t node) { return graph_.nodes[node].keeps_values && !is_layer(node); };
    const auto scores = nearest(softmax, false, is_product, passes);
    const auto mixed = nearest(softmax, true, is_product, passes);
    if (scores.empty() || mixed.empty()) return;
    for (const std::size_t node : scores) mark_around(node, {});
    for (const std::size_t node : mixed) mark_around(node, {node});
  }

  // Marks the layers that feed `node`, and those that read the outputs of `givers`.
  void mark_around(std::size_t node, const std::vector<std::size_t>& givers) {
    const auto wanted = [&](std::size_t other) { return is_layer(other); };
    const auto before = [&](std::size_t other) {  // does not follow shapes
      return !graph_.nodes[other].is_softmax && !graph_.nodes[other].gives_shape;
    };
    const auto behind = [&](std::size_t other) {
      return graph_.nodes[other].keeps_values && !graph_.nodes[other].computes_values;
    };
    for (const std::size_t layer : nearest(node, false, wanted, before))
      roles_[layer_at_[layer]].is_attention = true;
    for (const std::size_t giver : givers) {
      for (const std::size_t layer : nearest(giver, true, wanted, behind))
        roles_[layer_at_[layer]].is_attention = true;
    }
  }

  const RoleGraph& graph_;
  const std::vector<std::size_t>& layers_;
  std::vector<std::size_t> layer_at_;
  std::vector<LayerRole> roles_;
};

}  // namespace

RoleGraph::Node role_of(Op op) {
  return {.is_product = op == Op::kMatMul || op == Op::kFusedMatMul || op == Op::kEinsum,
          .is_softmax = op == Op::kSoftmax,
          .is_attention = false,
          .keeps_values = keeps_values(op),
          .computes_values = op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kDiv,
          .gives_shape = op == Op::kShape || op == Op::kSize};
}

std::vector<LayerRole> find_roles(const graph::Index& index, const std::vector<NodePlace>& layers) {
  const Flow flow(index);
  std::vector<std::size_t> nodes;
  for (const NodePlace& place : layers) nodes.push_back(flow.number(place));
  return find_roles(flow.graph(), nodes);
}

std::vector<LayerRole> find_roles(const RoleGraph& graph, const std::vector<std::size_t>& layers) {
  return Roles(graph, layers).find();
}

RoleGraph role_graph(const model::GraphView& main, const std::function<RoleGraph::Node(std::size_t)>& role) {
  RoleGraph graph;
  graph.next.resize(main.nodes.size());
  graph.before.resize(main.nodes.size());
  for (std::size_t i = 0; i < main.nodes.size(); ++i) {
    graph.nodes.push_back(role(i));
    for (const model::ValueId input : main.nodes[i].inputs) {
      if (input.is_absent() || input.graph != 0) continue;
      const std::size_t maker = main.values[input.value].producer;
      if (maker == model::kNone) continue;
      graph.next[maker].push_back(i);
      graph.before[i].push_back(maker);
    }
  }
  return graph;
}

std::vector<Layer> with_roles(std::map<NodePlace, Layer> found, const RoleGraph& main) {
  std::vector<std::size_t> nodes;
  std::vector<Layer> layers;
  for (auto& [place, layer] : found) {
    if (place.first == 0) nodes.push_back(place.second);
    layers.push_back(std::move(layer));
  }
  const std::vector<LayerRole> roles = find_roles(main, nodes);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    layers[i].is_first = roles[i].is_first;
    layers[i].is_last = roles[i].is_last;
    layers[i].is_attention = roles[i].is_attention;
  }
  return layers;
}

}  // namespace ounce::search
