#include "passes/spell_constants.h"

#include <cstring>
#include <optional>

#include "onnx/attributes.h"
#include "onnx/settings.h"
#include "passes/editors.h"

namespace ounce::passes {
namespace {

onnx::Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(ElementType::kFloat, std::move(dims), std::move(bytes));
}

// The tensor that a node means without holding one.
std::optional<onnx::Tensor> meant(const onnx::Node& node) {
  if (is_op(node, "ConstantOfShape") && onnx::find_attribute(node, "value") == nullptr)
    return floats({1}, {0.0F});
  if (!is_op(node, "Constant") || node.attributes.size() != 1) return std::nullopt;
  if (onnx::find_attribute(node, "value_float") != nullptr) {
    const auto value = onnx::float_setting(node, "value_float", 0);
    if (value) return floats({}, {*value});
  }
  if (onnx::find_attribute(node, "value_floats") != nullptr) {
    const auto values = onnx::floats_setting(node, "value_floats");
    if (values) return floats({static_cast<std::int64_t>(values->size())}, *values);
  }
  return std::nullopt;
}

}  // namespace

std::size_t spell_constants(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  std::size_t changed = 0;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    std::optional<onnx::Tensor> tensor = meant(node);
    if (!tensor) return;
    auto& attributes = editors.of(body).edit_node(position).attributes;
    attributes.clear();
    attributes.emplace_back(onnx::make_tensor_attribute(model, "value", std::move(*tensor)));
    ++changed;
  });
  return changed;
}

}  // namespace ounce::passes
