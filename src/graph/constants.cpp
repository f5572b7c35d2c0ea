#include "graph/constants.h"

#include "onnx/attributes.h"

namespace ounce::graph {

const onnx::Tensor* constant_tensor(const onnx::Node& node) {
  if (node.op_type != "Constant" || !onnx::is_default_domain(node.domain)) return nullptr;
  const onnx::Attribute* attribute = onnx::find_attribute(node, "value");
  return attribute != nullptr && attribute->tensors.size() == 1 ? &*attribute->tensors[0] : nullptr;
}

std::optional<Constant> find_constant(const onnx::Model& model, const Index& index, std::size_t body,
                                      Bytes name) {
  if (name.empty()) return std::nullopt;
  const auto [value, home] = index.find(body, name);
  if (value == nullptr) return std::nullopt;
  const Body& owner = index.bodies()[home];
  if (value->initializer != kNone) {
    // Before IR 4 every initializer is listed as an input, and none can be overridden.
    if (value->is_input && model.proto->ir_version >= 4) return std::nullopt;
    if (!model.proto->training.empty()) return std::nullopt;
    return Constant{&*owner.graph->initializers[value->initializer], value, home};
  }
  if (value->producer == kNone) return std::nullopt;
  const onnx::Tensor* tensor = constant_tensor(*owner.nodes()[value->producer]);
  if (tensor == nullptr) return std::nullopt;
  return Constant{tensor, value, home};
}

Bytes input_of(const onnx::Node& node, std::size_t input) {
  return input < node.inputs.size() ? node.inputs[input] : Bytes();
}

std::int64_t opset_of(const onnx::Model& model, const Index& index, std::size_t body) {
  const Body& root = index.bodies()[index.root(body)];
  return onnx::opset_version(
      root.function != nullptr ? root.function->opset_imports : model.proto->opset_imports, "");
}

}  // namespace ounce::graph
