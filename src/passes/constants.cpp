#include "passes/constants.h"

#include <fmt/format.h>

#include <cstring>

#include "onnx/values.h"
#include "plan/weights.h"

namespace ounce::passes {

using graph::kNone;

std::optional<Constant> find_constant(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      Bytes name) {
  if (name.empty()) return std::nullopt;
  const auto [value, home] = index.find(body, name);
  if (value == nullptr) return std::nullopt;
  const graph::Body& owner = index.bodies()[home];
  if (value->initializer != kNone) {
    // Before IR 4 every initializer is listed as an input, and none can be overridden.
    if (value->is_input && model.proto->ir_version >= 4) return std::nullopt;
    if (!model.proto->training.empty()) return std::nullopt;
    return Constant{&*owner.graph->initializers[value->initializer], value, home};
  }
  if (value->producer == kNone) return std::nullopt;
  const onnx::Tensor* tensor = plan::constant_tensor(*owner.nodes()[value->producer]);
  if (tensor == nullptr) return std::nullopt;
  return Constant{tensor, value, home};
}

Bytes input_of(const onnx::Node& node, std::size_t input) {
  return input < node.inputs.size() ? node.inputs[input] : Bytes();
}

std::vector<float> floats_of(const onnx::Tensor& tensor) {
  const onnx::RawValues raw(tensor);
  std::vector<float> values(raw.bytes().size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), raw.bytes().data(), values.size() * sizeof(float));
  return values;
}

onnx::Tensor float_tensor(std::vector<std::int64_t> dims, std::span<const float> values) {
  std::string bytes(values.size_bytes(), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(onnx::ElementType::kFloat, std::move(dims), std::move(bytes));
}

Bytes put_constant(BodyEditor& editor, std::size_t body, std::size_t place,
                   const std::optional<Constant>& old, Bytes old_name, onnx::Tensor tensor) {
  // Whoever declares the old one (an input before IR 4, a value_info) declares its shape too.
  const bool keeps_name = old && old->body == body && !old->is_shared() && old->tensor->dims == tensor.dims;
  if (!keeps_name) return editor.add_tensor(place, std::move(tensor));
  editor.change_tensor(*old->value, std::move(tensor));
  return old_name;
}

std::int64_t opset_of(const onnx::Model& model, const graph::Index& index, std::size_t body) {
  const graph::Body& root = index.bodies()[index.root(body)];
  return onnx::opset_version(
      root.function != nullptr ? root.function->opset_imports : model.proto->opset_imports, "");
}

std::string place_of(const graph::Index& index, std::size_t body, std::size_t position) {
  const graph::Body& home = index.bodies()[body];
  const std::string label = graph::node_label(*home.nodes()[position], position);
  return home.path.empty() ? fmt::format("node '{}'", label)
                           : fmt::format("node '{}' in {}", label, home.path);
}

}  // namespace ounce::passes
