#include "search/layers.h"

#include <algorithm>
#include <map>

#include "plan/weights.h"
#include "search/layer_roles.h"

namespace ounce::search {
namespace {

using graph::Index;

// Movement ops looked at between a weight and its nodes, in all.
constexpr int kLongestSearch = 64;

struct User {
  NodePlace place;
  bool is_direct = true;  // otherwise ops that move values stand between
};

// The nodes that multiply with a weight or look rows up in it.
void find_users(const Index& index, const graph::Value& value, bool is_direct, int& steps_left,
                std::vector<User>& users) {
  for (const graph::Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    const bool is_slot = plan::find_weight_slot(node, use.input) != nullptr;
    const std::size_t before = users.size();
    if (plan::is_movement(node, use.input) && !node.outputs.empty() && steps_left-- > 0) {
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
    if (!weight.fits_few_bits() || weight.feeds_quantized_op || weight.tensor->byte_count() < least_bytes)
      continue;
    std::vector<User> users;
    int steps_left = kLongestSearch;
    find_users(index, *weight.value, true, steps_left, users);
    std::sort(users.begin(), users.end(), [](const User& a, const User& b) { return a.place < b.place; });
    users.erase(std::unique(users.begin(), users.end(),  // several ways may lead to one
                            [](const User& a, const User& b) { return a.place == b.place; }),
                users.end());
    bool is_counted = false;
    for (const User& user : users) {
      const onnx::Node& node = *index.bodies()[user.place.first].nodes()[user.place.second];
      if (node.outputs.empty() || node.outputs[0].empty()) continue;
      Draft& draft = drafts[user.place];
      draft.is_direct &= user.is_direct;
      draft.layer.weights.push_back(graph::value_path(index, weight.body, weight.name));
      draft.tensors.emplace_back(weight.name);
      if (!is_counted) draft.layer.values += weight.tensor->element_count();
      is_counted = true;
    }
  }
  return drafts;
}

// Only what RE2 gives a meaning is escaped: people read these.
std::string exactly(const std::string& name) {
  std::string text = "^";
  for (const char c : name) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + "$";
}

// A node's name means its weights if they are its own inputs and nothing else is called so: no other node, no
// tensor, no op.
std::vector<std::string> expressions_for(const Draft& draft, const std::map<std::string, int>& names) {
  const auto found = names.find(draft.layer.name);
  if (draft.is_direct && found != names.end() && found->second == 1) return {exactly(draft.layer.name)};
  std::vector<std::string> expressions;
  for (const std::string& tensor : draft.tensors) expressions.push_back(exactly(tensor));
  return expressions;
}

}  // namespace

std::vector<Layer> find_layers(const Index& index, std::uint64_t least_bytes) {
  std::map<NodePlace, Draft> drafts = collect(index, least_bytes);
  std::map<std::string, int> names;  // what is called so
  graph::for_each_node(index, [&](std::size_t, std::size_t, const onnx::Node& node) {
    if (!node.name.empty()) ++names[std::string(node.name)];
    ++names[std::string(node.op_type)];
  });
  for (const plan::Weight& weight : plan::find_weights(index)) ++names[std::string(weight.name)];
  std::vector<NodePlace> places;
  std::vector<Layer> layers;
  for (auto& [place, draft] : drafts) {
    const onnx::Node& node = *index.bodies()[place.first].nodes()[place.second];
    draft.layer.output = graph::value_path(index, place.first, node.outputs[0]);
    draft.layer.op_type = node.op_type;
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

}  // namespace ounce::search
