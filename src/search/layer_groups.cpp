#include <algorithm>
#include <cctype>
#include <map>

#include "search/layers.h"

namespace ounce::search {
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
