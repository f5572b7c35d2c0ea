#include "data/model_inputs.h"

#include <set>

#include "onnx/types.h"

namespace ounce::data {

std::vector<ValueDescription> inputs_of(const onnx::Model& model) {
  const onnx::Graph& graph = *model.proto->graph;
  std::set<std::string_view> given;
  for (const auto& tensor : graph.initializers) given.insert(tensor->name);
  for (const auto& sparse : graph.sparse_initializers) given.insert(sparse->values->name);
  std::vector<ValueDescription> inputs;
  for (const auto& input : graph.inputs) {
    if (given.contains(input->name)) continue;
    const onnx::ValueType type = onnx::read_type(input->type);
    ValueDescription& described = inputs.emplace_back();
    described.name = std::string(input->name);
    if (type.kind == "tensor") described.element = type.element;
    for (const onnx::Dimension& dimension : type.shape)
      described.shape.push_back({dimension.value, std::string(dimension.parameter)});
  }
  return inputs;
}

}  // namespace ounce::data
