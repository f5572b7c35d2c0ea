#include "passes/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "onnx/values.h"

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
  // Whoever declares the old one (an input before IR 4, a value_info) declares its shape too.
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

}  // namespace ounce::passes
