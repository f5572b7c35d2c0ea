#include "formats/onnx/edit/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"

namespace ounce::passes {

std::size_t count_of(std::span<const std::int64_t> dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

std::vector<float> floats_of(const onnx::Tensor& tensor) {
  const onnx::RawValues raw(tensor);
  std::vector<float> values(raw.bytes().size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), raw.bytes().data(), values.size() * sizeof(float));
  return values;
}

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

onnx::Tensor float_tensor(std::vector<std::int64_t> dims, std::span<const float> values) {
  std::string bytes(values.size_bytes(), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(ElementType::kFloat, std::move(dims), std::move(bytes));
}

Bytes put_constant(BodyEditor& editor, std::size_t body, std::size_t place,
                   const std::optional<Constant>& old, Bytes old_name, onnx::Tensor tensor) {
  // A declaration of the old constant (an input before IR 4, a value_info) also contains its shape.
  const bool keeps_name = old && old->body == body && !old->is_shared() && old->tensor->dims == tensor.dims;
  if (!keeps_name) return editor.add_tensor(place, std::move(tensor));
  editor.change_tensor(*old->value, std::move(tensor));
  return old_name;
}

std::string place_of(const graph::Index& index, std::size_t body, std::size_t position) {
  const graph::Body& home = index.bodies()[body];
  const std::string label = graph::node_label(*home.nodes()[position], position);
  return home.path.empty() ? fmt::format("node '{}'", label)
                           : fmt::format("node '{}' in {}", label, home.path);
}

namespace {

onnx::Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(ElementType::kFloat, std::move(dims), std::move(bytes));
}

// The tensor that a node defines by a shorthand form.
std::optional<onnx::Tensor> meant(const onnx::Node& node) {
  if (node.op() == Op::kConstantOfShape && onnx::find_attribute(node, "value") == nullptr)
    return floats({1}, {0.0F});
  if (node.op() != Op::kConstant || node.attributes.size() != 1) return std::nullopt;
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

std::size_t expand_constants(onnx::Model& model) {
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

namespace {

constexpr std::int64_t kDefaultsFromIr = 4;

}  // namespace

std::vector<std::string> listed_constants(const onnx::Model& model) {
  std::vector<std::string> names;
  // Training graphs refer to initializers by name and change them.
  if (model.proto->ir_version < kDefaultsFromIr || !model.proto->training.empty()) return names;
  const onnx::Graph& graph = *model.proto->graph;
  std::unordered_set<onnx::Bytes> constants;
  for (const auto& tensor : graph.initializers) constants.insert(tensor->name);
  for (const auto& input : graph.inputs) {
    if (constants.contains(input->name)) names.emplace_back(input->name);
  }
  return names;
}

void remove_initializer_inputs(onnx::Model& model) {
  const std::vector<std::string> listed = listed_constants(model);
  if (listed.empty()) return;
  const std::unordered_set<std::string> names(listed.begin(), listed.end());
  std::erase_if(model.proto.edit().graph.edit().inputs,
                [&](const auto& input) { return names.contains(std::string(input->name)); });
}

std::string sentence_of_unlisted(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const bool is_one = names.size() == 1;
  const std::string who = is_one ? fmt::format("the initializer '{}' is", names[0])
                                 : fmt::format("{} initializers ('{}' …) are", names.size(), names[0]);
  return fmt::format(
      "{} listed as {}, as old exporters do, and become{}; if an app overrides {}: "
      "`keep_inputs=true`",
      who, is_one ? "an input" : "inputs", is_one ? "s a constant" : " constants", is_one ? "it" : "them");
}

}  // namespace ounce::passes
