#include "graph/verify.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

namespace ounce::graph {
namespace {

// The node of body `target` that `use` happens in: itself, or the If, Loop or Scan around it.
std::size_t node_in(const Index& index, const Use& use, std::size_t target) {
  std::size_t body = use.body, node = use.node;
  while (body != target) {
    node = index.bodies()[body].owner;
    body = index.bodies()[body].parent;
  }
  return node;
}

// Kahn's algorithm over one body: what cannot be ordered is a cycle or hangs on one. Most files are
// sorted already and pass the first loop.
void check_order(const Index& index, std::size_t id) {
  const Body& body = index.bodies()[id];
  bool is_sorted = true;
  std::vector<std::size_t> waits_for(body.nodes().size());
  std::vector<std::vector<std::size_t>> followers(body.nodes().size());
  for (const auto& [name, value] : body.values) {
    if (value.producer == kNone) continue;
    for (const Use& use : value.uses) {
      const std::size_t user = node_in(index, use, id);
      is_sorted &= value.producer < user;
      followers[value.producer].push_back(user);
      ++waits_for[user];
    }
  }
  if (is_sorted) return;
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < waits_for.size(); ++i) {
    if (waits_for[i] == 0) ready.push_back(i);
  }
  std::size_t ordered = 0;
  while (!ready.empty()) {
    const std::size_t node = ready.back();
    ready.pop_back();
    ++ordered;
    for (const std::size_t follower : followers[node]) {
      if (--waits_for[follower] == 0) ready.push_back(follower);
    }
  }
  if (ordered == waits_for.size()) return;
  const auto stuck = static_cast<std::size_t>(
      std::find_if(waits_for.begin(), waits_for.end(), [](std::size_t count) { return count != 0; }) - waits_for.begin());
  throw Error(ErrorCode::kBadInput,
              fmt::format("node '{}' waits for itself: the graph has a cycle", node_label(*body.nodes()[stuck], stuck)), body.path);
}

}  // namespace

Index verify(const onnx::Model& model) {
  Index index(model);
  for (std::size_t i = 0; i < index.bodies().size(); ++i) check_order(index, i);
  return index;
}

}  // namespace ounce::graph
