#include "search/family_walk.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace ounce::search {
namespace {

using graph::Bytes;
using graph::Index;

constexpr std::size_t kMostSeen = 256;  // what belongs together lies close together

struct Spot {
  std::size_t body;
  Bytes name;
};

// The outputs of an If's branches that become `name`.
void enter_branches(const Index& index, std::size_t body, const onnx::Node& node, Bytes name,
                    std::vector<Spot>& next) {
  const auto place = std::find(node.outputs.begin(), node.outputs.end(), name) - node.outputs.begin();
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const graph::Body& inner = index.bodies()[i];
    if (inner.graph == nullptr || inner.parent != body ||
        &*index.bodies()[body].nodes()[inner.owner] != &node)
      continue;
    if (static_cast<std::size_t>(place) < inner.graph->outputs.size())
      next.push_back({i, inner.graph->outputs[static_cast<std::size_t>(place)]->name});
  }
}

}  // namespace

void walk_back(const Index& index, std::size_t body, Bytes name, const Visit& visit) {
  std::unordered_set<const graph::Value*> seen;
  std::vector<Spot> next = {{body, name}};
  while (!next.empty() && seen.size() < kMostSeen) {
    const Spot spot = next.back();
    next.pop_back();
    if (spot.name.empty()) continue;
    const auto [value, home] = index.find(spot.body, spot.name);
    if (value == nullptr || value->producer == graph::kNone || !seen.insert(value).second) continue;
    const onnx::Node& node = *index.bodies()[home].nodes()[value->producer];
    if (!visit(home, node)) continue;
    for (const Bytes input : node.inputs) next.push_back({home, input});
    if (node.op_type == "If") enter_branches(index, home, node, spot.name, next);
  }
}

void walk_ahead(const Index& index, std::size_t body, Bytes name, const Visit& visit) {
  std::unordered_set<const graph::Value*> seen;
  std::vector<Spot> next = {{body, name}};
  while (!next.empty() && seen.size() < kMostSeen) {
    const Spot spot = next.back();
    next.pop_back();
    if (spot.name.empty()) continue;
    const auto [value, home] = index.find(spot.body, spot.name);
    if (value == nullptr || !seen.insert(value).second) continue;
    for (const graph::Use& use : value->uses) {
      const onnx::Node& node = index.node(use);
      if (!visit(use.body, node)) continue;
      for (const Bytes output : node.outputs) next.push_back({use.body, output});
    }
  }
}

}  // namespace ounce::search
