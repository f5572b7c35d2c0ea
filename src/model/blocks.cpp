#include "model/blocks.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>

namespace ounce::model {

std::string_view numbered_scope(std::string_view node) {
  const std::size_t last = node.rfind('/');
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; last != std::string_view::npos && at < last;) {
    const std::size_t end = std::min(node.find('/', at + 1), last);
    const std::string_view scope = node.substr(at, end - at);
    if (std::any_of(scope.begin(), scope.end(), is_digit)) return node.substr(0, end);
    at = end;
  }
  return {};
}

namespace {

struct Draft {
  GraphBlock block;
  std::set<std::string_view> weights;
  std::set<std::uint64_t> predecessors;
};

class Blocks {
 public:
  Blocks(const ModelFile& file, const GraphView& graph) : file_(file), graph_(graph) {}

  void add(std::size_t index) {
    const NodeView& node = graph_.nodes[index];
    if (gives_constants(node)) return;
    const std::string label = file_.label({0, index});
    const std::size_t place = place_of(label, reads_weights(node));
    Draft& draft = drafts_[place];
    draft.block.ops.emplace_back(node.op);
    draft.block.nodes.push_back(label);
    block_of_node_[index] = place;
    for (const ValueId& input : node.inputs) {
      if (input.is_absent() || input.graph != 0) continue;
      const ValueView& value = graph_.values[input.value];
      if (value.constant) {
        draft.weights.insert(value.name);
      } else if (const auto producer = block_of_node_.find(value.producer);
                 producer != block_of_node_.end() && producer->second != place) {
        draft.predecessors.insert(producer->second);
      }
    }
  }

  std::vector<GraphBlock> all() {
    std::vector<GraphBlock> blocks;
    for (Draft& draft : drafts_) {
      draft.block.weights.assign(draft.weights.begin(), draft.weights.end());
      draft.block.predecessors.assign(draft.predecessors.begin(), draft.predecessors.end());
      blocks.push_back(std::move(draft.block));
    }
    return blocks;
  }

 private:
  bool gives_constants(const NodeView& node) const {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](const ValueId& output) {
      return output.is_absent() || (output.graph == 0 && graph_.values[output.value].constant);
    });
  }

  // Vectors are biases, scales and shapes.
  bool reads_weights(const NodeView& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const ValueId& input) {
      if (input.is_absent() || input.graph != 0) return false;
      const ValueView& value = graph_.values[input.value];
      return value.constant && value.constant->dims.size() > 1;
    });
  }

  std::size_t place_of(const std::string& label, bool has_weights) {
    const std::string scope(numbered_scope(label));
    if (scope.empty() && !has_weights && !drafts_.empty()) return last_;
    const auto [found, is_new] = places_.try_emplace(scope.empty() ? label : scope, drafts_.size());
    if (is_new) {
      drafts_.emplace_back();
      drafts_.back().block.name = found->first;
    }
    return last_ = found->second;
  }

  const ModelFile& file_;
  const GraphView& graph_;
  std::vector<Draft> drafts_;
  std::map<std::string, std::size_t> places_;
  std::map<std::size_t, std::size_t> block_of_node_;
  std::size_t last_ = 0;
};

}  // namespace

std::vector<GraphBlock> blocks_of(const ModelFile& file) {
  if (file.graphs().empty() || file.graphs()[0].nodes.size() > kMostBlockNodes) return {};
  Blocks blocks(file, file.graphs()[0]);
  for (std::size_t node = 0; node < file.graphs()[0].nodes.size(); ++node) blocks.add(node);
  return blocks.all();
}

}  // namespace ounce::model
