// Scalar attributes of nodes, decoded when asked for, and new ones made.
#pragma once

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/model.h"

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

// The fields of an attribute, as the file has them.

// Calls visit(reader) for each occurrence of `field`. The reader of the file has checked their structure.
template <class Visit>
void visit_field(const Attribute& attribute, AttributeField field, Visit visit) {
  for (const CarriedField& carried : attribute.carried) {
    if (carried.number != static_cast<std::uint32_t>(field)) continue;
    protozero::pbf_reader reader(carried.bytes.data(), carried.bytes.size());
    if (reader.next()) visit(reader);
  }
}

// Attributes of a node as what they set: the value that is written, or the default where none is.
//
// Nothing when there is an attribute but no value to be read here: one that a function takes from its caller,
// or one of another type. A pass that gets nothing leaves the node alone.

std::optional<std::int64_t> integer_setting(const Node& node, Bytes name, std::int64_t otherwise);
std::optional<float> float_setting(const Node& node, Bytes name, float otherwise);
std::optional<Bytes> string_setting(const Node& node, Bytes name, Bytes otherwise);
std::optional<std::vector<float>> floats_setting(const Node& node, Bytes name);

// A copy for a new node. Attributes that hold graphs cannot be copied: no node with a body is ever remade.
Kept<Attribute> copy_of(const Kept<Attribute>& attribute);

}  // namespace ounce::onnx
