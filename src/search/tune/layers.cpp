#include "search/tune/layers.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "formats/onnx/plan/op_table.h"
#include "formats/onnx/plan/weights.h"
#include "search/tune/layer_roles.h"

namespace ounce::search {
namespace {

using graph::Index;

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
    int steps_left = plan::kLongestSearch;
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

namespace {

// "/encoder/layer.3/attention/query/MatMul" → "/encoder/layer.3": the scope that is counted, the outermost
// if there are several. Empty when names do not tell.
std::string block_of(const std::string& name) {
  const std::size_t last = name.rfind('/');
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < name.size() && last != std::string::npos && at < last;) {
    const std::size_t end = std::min(name.find('/', at + 1), last);
    if (std::any_of(name.begin() + static_cast<std::ptrdiff_t>(at),
                    name.begin() + static_cast<std::ptrdiff_t>(end), is_digit))
      return name.substr(0, end);
    at = end;
  }
  return {};
}

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

// Neighbours are put together until there are few enough.
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
                     const std::string block = block_of(layer.name);
                     return block.empty() ? layer.name : block;
                   }),
                std::max<std::size_t>(most, 1));
}

// A weight has one format: layers that share one are not to be told apart.
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

}  // namespace ounce::search
