#include "graph/shapes.h"

#include "graph/constants.h"
#include "onnx/settings.h"
#include "onnx/types.h"

namespace ounce::graph {

Shapes::Shapes(const Index& index) : index_(index) {
  for (const Body& body : index.bodies()) {
    const auto declare = [&](Bytes name, Dims dims) {
      const auto found = body.values.find(name);
      if (found != body.values.end()) shapes_.insert_or_assign(&found->second, std::move(dims));
    };
    if (body.graph != nullptr) {
      for (const auto* infos : {&body.graph->value_infos, &body.graph->inputs, &body.graph->outputs}) {
        for (const auto& info : *infos) {
          const onnx::ValueType type = onnx::read_type(info->type);
          if (type.kind != "tensor" || !type.has_shape) continue;
          Dims dims;
          for (const onnx::Dimension& dimension : type.shape) dims.push_back(dimension.value);
          declare(info->name, std::move(dims));
        }
      }
      for (const auto& tensor : body.graph->initializers) declare(tensor->name, tensor->dims);
    }
    for (const auto& node : body.nodes()) {
      const onnx::Tensor* tensor = constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty()) declare(node->outputs[0], tensor->dims);
    }
  }
  for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    const bool keeps_shape = onnx::is_op(node, "Cast") || onnx::is_op(node, "Identity");
    if (!keeps_shape || node.outputs.empty()) return;
    const Dims* dims = of(body, input_of(node, 0));
    if (dims != nullptr) shapes_.try_emplace(index.find(body, node.outputs[0]).value, *dims);
  });
}

const Dims* Shapes::of(std::size_t body, Bytes name) const {
  const auto found = shapes_.find(name.empty() ? nullptr : index_.find(body, name).value);
  return found == shapes_.end() ? nullptr : &found->second;
}

}  // namespace ounce::graph
