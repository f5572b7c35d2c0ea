// Attributes of a node as what they set: the value that is written, or the default where none is.
//
// Nothing when there is an attribute but no value to be read here: one that a function takes from its caller,
// or one of another type. A pass that gets nothing leaves the node alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/model.h"

namespace ounce::onnx {

std::optional<std::int64_t> integer_setting(const Node& node, Bytes name, std::int64_t otherwise);
std::optional<float> float_setting(const Node& node, Bytes name, float otherwise);
std::optional<Bytes> string_setting(const Node& node, Bytes name, Bytes otherwise);
std::optional<std::vector<float>> floats_setting(const Node& node, Bytes name);

// A copy for a new node. Attributes that hold graphs cannot be copied: no node with a body is ever remade.
Kept<Attribute> copy_of(const Kept<Attribute>& attribute);

// Is this node the op of that type in ONNX's own domain?
bool is_op(const Node& node, std::string_view op_type);

}  // namespace ounce::onnx
