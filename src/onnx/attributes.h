// Scalar attributes of nodes, decoded when asked for, and new ones made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/model.h"

namespace ounce::onnx {

const Attribute* find_attribute(const Node& node, Bytes name);

// Nothing when the node has no such attribute or it is of another type.
std::optional<std::int64_t> integer_attribute(const Node& node, Bytes name);
std::optional<std::vector<std::int64_t>> integers_attribute(const Node& node, Bytes name);
std::optional<Bytes> string_attribute(const Node& node, Bytes name);

Attribute make_integer_attribute(Model& model, Bytes name, std::int64_t value);
Attribute make_float_attribute(Model& model, Bytes name, float value);
Attribute make_integers_attribute(Model& model, Bytes name, const std::vector<std::int64_t>& values);
Attribute make_string_attribute(Model& model, Bytes name, const std::string& value);
Attribute make_tensor_attribute(Model& model, Bytes name, Tensor tensor);

}  // namespace ounce::onnx
