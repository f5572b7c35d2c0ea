#include "target/ort/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "formats/onnx/file/model.h"

namespace ounce::target {
namespace {

constexpr std::size_t kMain = 0;

// Dependencies between nodes of the main graph, by values that nodes use directly or in their subgraphs.
struct Links {
  std::vector<std::vector<std::size_t>> next;
  std::vector<std::size_t> waits_for;  // number of unfinished predecessors
};

// The node of the main graph that contains a use; kNone in functions.
std::size_t main_node(const graph::Index& index, const graph::Use& use) {
  std::size_t body = use.body, node = use.node;
  while (body != kMain && body != graph::kNone) {
    node = index.bodies()[body].owner;
    body = index.bodies()[body].parent;
  }
  return body == kMain ? node : graph::kNone;
}

Links links_of(const graph::Index& index, std::span<const Share> shares) {
  const graph::Body& graph = index.main();
  Links links{std::vector<std::vector<std::size_t>>(shares.size()), std::vector<std::size_t>(shares.size())};
  for (const auto& [name, value] : graph.values) {
    const std::size_t producer = value.producer;
    if (producer == graph::kNone || shares[producer] == Share::kNone) continue;
    for (const graph::Use& use : value.uses) {
      const std::size_t user = main_node(index, use);
      if (user == graph::kNone || shares[user] == Share::kNone) continue;
      links.next[producer].push_back(user);
      ++links.waits_for[user];
    }
  }
  for (std::vector<std::size_t>& users : links.next) std::sort(users.begin(), users.end());
  return links;
}

// A breadth-first search from the inputs. Nodes that the provider takes join the current partition. CPU nodes
// that depend on it are postponed until no other node is ready; then the next partition begins.
class Flood {
 public:
  struct Partition {
    std::size_t size = 0, computing = 0;
  };

  Flood(Links links, std::span<const Share> shares, const std::vector<bool>& computes)
      : links_(std::move(links)), shares_(shares), computes_(computes), touched_by_(shares.size()) {}

  std::vector<Partition> partitions() {
    for (std::size_t node = 0; node < shares_.size(); ++node)
      if (shares_[node] != Share::kNone && links_.waits_for[node] == 0) ready_.push_back(node);
    while (!ready_.empty()) {
      while (!ready_.empty()) {
        const std::size_t node = ready_.front();
        ready_.pop_front();
        visit(node);
      }
      if (now_.size > 0) found_.push_back(std::exchange(now_, {}));
      ++island_;
      ready_.swap(shore_);
    }
    return std::move(found_);
  }

 private:
  void visit(std::size_t node) {
    const bool is_taken = shares_[node] == Share::kProvider;
    if (!is_taken && touched_by_[node] == island_) {
      shore_.push_back(node);
      return;
    }
    if (is_taken) ++now_.size;
    if (is_taken && computes_[node]) ++now_.computing;
    for (const std::size_t next : links_.next[node]) {
      if (is_taken) touched_by_[next] = island_;
      if (--links_.waits_for[next] == 0) ready_.push_back(next);
    }
  }

  Links links_;
  std::span<const Share> shares_;
  const std::vector<bool>& computes_;
  std::vector<std::size_t> touched_by_;  // last partition that a node directly depends on
  std::deque<std::size_t> ready_, shore_;
  std::size_t island_ = 1;
  Partition now_;
  std::vector<Partition> found_;
};

std::vector<std::string> most_first(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  texts.reserve(sorted.size());
  for (const auto& [op, count] : sorted) texts.push_back(fmt::format("{} {}", op, count));
  return texts;
}

std::string name_of(const onnx::Node& node) {
  return onnx::is_default_domain(node.domain()) ? std::string(node.op_type())
                                                : fmt::format("{}.{}", node.domain(), node.op_type());
}

constexpr std::string_view kConversions =
    " Cast CastLike DequantizeLinear Flatten Identity QuantizeLinear Reshape Shape Squeeze Transpose "
    "Unsqueeze ";

bool computes(const onnx::Node& node) {
  return kConversions.find(fmt::format(" {} ", node.op_type())) == std::string_view::npos;
}

}  // namespace

Partitions partitions_of(const graph::Index& index, std::span<const Share> shares) {
  Partitions result;
  std::map<std::string, std::size_t> left;
  std::vector<bool> are_computing(shares.size());
  for (std::size_t node = 0; node < shares.size(); ++node) {
    if (shares[node] == Share::kNone) {
      ++result.folded;
      continue;
    }
    are_computing[node] = computes(*index.main().nodes()[node]);
    ++result.nodes;
    if (shares[node] == Share::kProvider) ++result.taken;
    if (shares[node] == Share::kCpu) ++left[name_of(*index.main().nodes()[node])];
  }
  result.left = most_first(left);
  for (const Flood::Partition& partition :
       Flood(links_of(index, shares), shares, are_computing).partitions()) {
    ++result.partitions;
    result.largest = std::max(result.largest, partition.size);
    result.computing += partition.computing;
    if (partition.computing != 0) ++result.computing_partitions;
  }
  return result;
}

Partitions partitions_of(const ProviderDocs& docs) {
  const auto& nodes = docs.index().main().nodes();
  std::vector<Share> shares(nodes.size(), Share::kNone);
  std::string ignored;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const bool is_taken = docs.documents(kMain, node, ignored);
    if (!docs.is_folded(kMain, node)) shares[node] = is_taken ? Share::kProvider : Share::kCpu;
  }
  return partitions_of(docs.index(), shares);
}

}  // namespace ounce::target
