#include "formats/onnx/graph/names.h"

namespace ounce::graph {

Names::Names(onnx::Model& model) : model_(model) {
  const onnx::ModelProto& proto = *model.proto;
  collect(*proto.graph);
  for (const auto& function : proto.functions) {
    taken_.insert(function->inputs.begin(), function->inputs.end());
    taken_.insert(function->outputs.begin(), function->outputs.end());
    collect(function->attribute_defaults);
    collect(function->nodes);
  }
  for (const auto& training : proto.training) {
    for (const auto& graph : training->initialization) collect(*graph);
    for (const auto& graph : training->algorithm) collect(*graph);
  }
}

void Names::collect(const onnx::Graph& graph) {
  for (const auto& tensor : graph.initializers) taken_.insert(tensor->name);
  for (const auto& sparse : graph.sparse_initializers) taken_.insert(sparse->values->name);
  for (const auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const auto& info : *list) taken_.insert(info->name);
  }
  collect(graph.nodes);
}

void Names::collect(const std::vector<onnx::Kept<onnx::Node>>& nodes) {
  for (const auto& node : nodes) {
    taken_.insert(node->name);
    taken_.insert(node->inputs.begin(), node->inputs.end());
    taken_.insert(node->outputs.begin(), node->outputs.end());
    collect(node->attributes);
  }
}

void Names::collect(const std::vector<onnx::Kept<onnx::Attribute>>& attributes) {
  for (const auto& attribute : attributes) {
    for (const auto& graph : attribute->graphs) collect(**graph);
  }
}

onnx::Bytes Names::fresh(const std::string& prefix) {
  std::size_t& next = next_[prefix];
  while (true) {
    std::string name = prefix + std::to_string(next++);
    if (!taken_.contains(name)) {
      const onnx::Bytes kept = model_.intern(std::move(name));
      taken_.insert(kept);
      return kept;
    }
  }
}

}  // namespace ounce::graph
