#include "passes/strip_constant_names.h"

#include <algorithm>

namespace ounce::passes {
namespace {

using Nodes = std::vector<onnx::Kept<onnx::Node>>;

bool is_named_constant(const onnx::Node& node) {
  return node.op_type == "Constant" && onnx::is_default_domain(node.domain) && !node.name.empty();
}

bool has_work(const Nodes& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    if (is_named_constant(*node)) return true;
    return std::any_of(node->attributes.begin(), node->attributes.end(), [](const auto& attribute) {
      return std::any_of(attribute->graphs.begin(), attribute->graphs.end(),
                         [](const auto& graph) { return has_work((*graph)->nodes); });
    });
  });
}

std::size_t strip(Nodes& nodes) {
  std::size_t changed = 0;
  for (auto& node : nodes) {
    if (is_named_constant(*node)) {
      node.edit().name = {};
      ++changed;
    }
    for (std::size_t a = 0; a < node->attributes.size(); ++a) {
      for (std::size_t g = 0; g < node->attributes[a]->graphs.size(); ++g) {
        if (!has_work((*node->attributes[a]->graphs[g])->nodes)) continue;
        changed += strip(node.edit().attributes[a].edit().graphs[g]->edit().nodes);
      }
    }
  }
  return changed;
}

}  // namespace

std::size_t strip_constant_names(onnx::Model& model) {
  std::size_t changed = 0;
  if (has_work(model.proto->graph->nodes)) changed += strip(model.proto.edit().graph.edit().nodes);
  for (std::size_t f = 0; f < model.proto->functions.size(); ++f) {
    if (has_work(model.proto->functions[f]->nodes))
      changed += strip(model.proto.edit().functions[f].edit().nodes);
  }
  return changed;
}

}  // namespace ounce::passes
