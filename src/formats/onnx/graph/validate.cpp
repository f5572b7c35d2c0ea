#include "formats/onnx/graph/validate.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::graph {
namespace {

// The node of body `target` that contains `use`: the node itself, or the If, Loop or Scan around it.
std::size_t node_in(const Index& index, const Use& use, std::size_t target) {
  std::size_t body = use.body, node = use.node;
  while (body != target) {
    node = index.bodies()[body].owner;
    body = index.bodies()[body].parent;
  }
  return node;
}

// The dependencies between the nodes of one body.
struct Order {
  std::vector<std::size_t> waits_for;               // number of producers not yet ordered, by node
  std::vector<std::vector<std::size_t>> followers;  // the nodes that depend on a node
  bool is_sorted = true;

  explicit Order(std::size_t nodes) : waits_for(nodes), followers(nodes) {}
  void add(std::size_t producer, std::size_t user) {
    is_sorted &= producer < user;
    followers[producer].push_back(user);
    ++waits_for[user];
  }
};

Order order_of(const Index& index, std::size_t id) {
  const Body& body = index.bodies()[id];
  Order order(body.nodes().size());
  for (const auto& [name, value] : body.values) {
    if (value.producer == kNone) continue;
    for (const Use& use : value.uses) order.add(value.producer, node_in(index, use, id));
  }
  return order;
}

// A subgraph may return a captured value as its output, so the node around it depends on that value, too.
void add_outputs_from_outside(const Index& index, std::vector<Order>& orders) {
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const Body& body = index.bodies()[i];
    if (body.parent == kNone) continue;
    for (const auto& output : body.graph->outputs) {
      const auto [value, home] = index.find(i, output->name);
      if (home == i || value->producer == kNone) continue;
      orders[home].add(value->producer, node_in(index, {body.parent, body.owner, 0}, home));
    }
  }
}

// The first node of a cycle. Following dependencies back from any node that Kahn's algorithm could not order
// leads to a cycle.
std::size_t node_on_cycle(const Order& order) {
  const auto is_stuck = [&](std::size_t node) { return order.waits_for[node] != 0; };
  std::vector<std::size_t> before(order.waits_for.size(), kNone);
  std::size_t node = kNone;
  for (std::size_t i = 0; i < order.followers.size(); ++i) {
    if (!is_stuck(i)) continue;
    node = i;
    for (const std::size_t follower : order.followers[i]) before[follower] = i;
  }
  for (std::size_t steps = 0; steps < before.size(); ++steps) node = before[node];
  std::size_t first = node;
  for (std::size_t next = before[node]; next != node; next = before[next]) first = std::min(first, next);
  return first;
}

// Kahn's algorithm over one body: nodes that cannot be ordered are on a cycle or depend on one. Most files
// are already sorted, which skips it.
void check_order(const Index& index, std::size_t id, Order order) {
  if (order.is_sorted) return;
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < order.waits_for.size(); ++i) {
    if (order.waits_for[i] == 0) ready.push_back(i);
  }
  std::size_t ordered = 0;
  while (!ready.empty()) {
    const std::size_t node = ready.back();
    ready.pop_back();
    ++ordered;
    for (const std::size_t follower : order.followers[node]) {
      if (--order.waits_for[follower] == 0) ready.push_back(follower);
    }
  }
  if (ordered == order.waits_for.size()) return;
  const Body& body = index.bodies()[id];
  const std::size_t stuck = node_on_cycle(order);
  throw Error(ErrorCode::kBadInput,
              fmt::format("node '{}' depends on itself: the graph has a cycle",
                          node_label(*body.nodes()[stuck], stuck)),
              body.path);
}

// With two versions of a domain the meaning of ops is ambiguous, and runtimes store versions in 31 bits.
void check_imports(const std::vector<onnx::Kept<onnx::OpsetImport>>& imports, const std::string& where) {
  std::map<onnx::Bytes, std::int64_t> versions;
  for (const auto& import : imports) {
    const onnx::Bytes domain = onnx::is_default_domain(import->domain) ? onnx::Bytes() : import->domain;
    const std::string name(domain.empty() ? "ai.onnx" : domain);
    if (import->version > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("imports version {} of the ops of {}, which is not a valid version",
                              import->version, name),
                  where);
    const auto [known, is_new] = versions.emplace(domain, import->version);
    if (!is_new && known->second != import->version)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("imports the ops of {} in two versions, {} and {}", name, known->second,
                              import->version),
                  where);
  }
}

void check_functions_are_different(const onnx::Model& model) {
  std::set<std::tuple<onnx::Bytes, onnx::Bytes, onnx::Bytes>> known;
  for (const auto& function : model.proto->functions) {
    const onnx::Bytes domain = onnx::is_default_domain(function->domain) ? onnx::Bytes() : function->domain;
    if (!known.emplace(domain, function->name, function->overload).second)
      throw Error(ErrorCode::kBadInput, "is defined twice", fmt::format("function '{}'", function->name));
  }
}

// Recursive functions cannot be inlined.
void check_calls_end(const Index& index) {
  const Functions functions(index);
  std::vector<std::vector<std::size_t>> callers(index.bodies().size());
  std::vector<std::size_t> calls(index.bodies().size());
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const std::size_t caller = index.root(i);
    for (const auto& node : index.bodies()[i].nodes()) {
      const std::size_t called = functions.called_by(*node);
      if (called == kNone) continue;
      callers[called].push_back(caller);
      ++calls[caller];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t done = ready.back();
    ready.pop_back();
    for (const std::size_t caller : callers[done]) {
      if (--calls[caller] == 0) ready.push_back(caller);
    }
  }
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (calls[i] != 0) throw Error(ErrorCode::kBadInput, "is recursive", index.bodies()[i].path);
  }
}

}  // namespace

Index validate(const onnx::Model& model) {
  check_imports(model.proto->opset_imports, model.file.path().string());
  for (const auto& function : model.proto->functions)
    check_imports(function->opset_imports, fmt::format("function '{}'", function->name));
  check_functions_are_different(model);
  Index index(model);
  check_op_parameters(model, index);
  if (!model.proto->functions.empty()) check_calls_end(index);
  std::vector<Order> orders;
  for (std::size_t i = 0; i < index.bodies().size(); ++i) orders.push_back(order_of(index, i));
  add_outputs_from_outside(index, orders);
  for (std::size_t i = 0; i < index.bodies().size(); ++i) check_order(index, i, std::move(orders[i]));
  return index;
}

}  // namespace ounce::graph
