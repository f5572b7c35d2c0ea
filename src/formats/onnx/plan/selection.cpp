#include "formats/onnx/plan/selection.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {

NodeOverrides::NodeOverrides(const graph::Index& index, const Recipe& recipe)
    : is_integer_(recipe.is_integer()), otherwise_(recipe.storage_of_remainder()) {
  if (recipe.nodes.empty()) return;
  std::vector<const onnx::Node*> nodes;
  std::vector<NodeNames> names;
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    nodes.push_back(&node);
    names.push_back({graph::value_path(index, body, node.outputs[0]), node.name});
  });
  named_ = find_named_formats(recipe, names);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (named_.formats[i]) by_node_.emplace(nodes[i], *named_.formats[i]);
  }
}

void NodeOverrides::require_nodes() const {
  if (!named_.has_unknown) return;
  // What is computed on integers is prepared for it first.
  const char* const folded =
      is_integer_ ? "; normalisations, and sums with constants, become part of the op before them, which "
                    "then gives their value"
                  : "";
  throw Error(ErrorCode::kUsage, fmt::format("`nodes` '{}': no node has this name or gives this value{}{}",
                                             named_.unknown, did_you_mean(named_.guess), folded));
}

void require_levels(const graph::Index& index, const Recipe& recipe) {
  const auto& levels = recipe.nbits.levels;
  if (levels.empty()) return;
  std::vector<std::string> products;
  std::map<std::string, std::string> others;  // value → op type
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    const std::string value = graph::value_path(index, body, node.outputs[0]);
    if (node.op() == Op::kMatMul || node.op() == Op::kGemm) {
      products.push_back(value);
    } else {
      others.emplace(value, node.op_type());
    }
  });
  for (const auto& [name, level] : levels) {
    if (std::find(products.begin(), products.end(), name) != products.end()) continue;
    const auto other = others.find(name);
    const std::string why =
        other == others.end()
            ? "no node gives this value" + did_you_mean(nearest(name, products))
            : fmt::format("{} gives this value, and levels are for MatMul and Gemm", other->second);
    throw Error(ErrorCode::kUsage, fmt::format("`nbits.levels` '{}': {}", name, why));
  }
}

std::optional<Format> NodeOverrides::of(const onnx::Node& node) const {
  const auto found = by_node_.find(&node);
  return found == by_node_.end() ? std::nullopt : std::optional(found->second);
}

bool NodeOverrides::wants_floats(const onnx::Node& node) const {
  const std::optional<Format> wanted = of(node);
  return wanted && is_storage(*wanted);
}

struct NodeOverrides::Tally {
  std::vector<Format> asked;
  bool has_others = false;  // nodes that nobody spoke of
  int steps_left = kLongestSearch;
};

void NodeOverrides::ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const {
  for (const graph::Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    if (const auto wanted = of(node); wanted && is_storage(*wanted)) {
      tally.asked.push_back(*wanted);
      continue;
    }
    // A table that rows are looked up in is the weight of that very op; pieces that are cut out are not.
    const bool is_table = node.info().weight(use.input) && node.op() != Op::kSlice;
    const bool is_moved = node.info().moves_weight(use.input) && !is_table;
    const graph::Value* next = is_moved && !node.outputs.empty() && tally.steps_left-- > 0
                                   ? index.find(use.body, node.outputs[0]).value
                                   : nullptr;
    if (next == nullptr || next->uses.empty()) {
      tally.has_others = true;
    } else {
      ask_users(index, *next, tally);
    }
  }
}

std::optional<StorageOverride> NodeOverrides::storage(const graph::Index& index, const Weight& weight) const {
  if (by_node_.empty()) return std::nullopt;
  Tally tally;
  ask_users(index, *weight.value, tally);
  return strongest_wish(tally.asked, tally.has_others, otherwise_);
}

Selection::Texts texts_of(const graph::Index& index, const Weight& weight) {
  Selection::Texts texts = {weight.name, weight.op_type};
  for (const graph::Use& use : weight.value->uses) {
    const onnx::Node& node = index.node(use);
    texts.insert(texts.end(), {node.name, node.op_type()});
  }
  return texts;
}

Selection::Texts texts_of(const onnx::Node& node) {
  Selection::Texts texts = {node.name, node.op_type()};
  texts.insert(texts.end(), node.outputs.begin(), node.outputs.end());
  return texts;
}

}  // namespace ounce::plan
