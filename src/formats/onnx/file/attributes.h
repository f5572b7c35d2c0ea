// Reads scalar attributes of nodes on demand, and makes new attributes.
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

// Empty if the node has no such attribute or the attribute has another type.
std::optional<std::int64_t> integer_attribute(const Node& node, Bytes name);
std::optional<std::vector<std::int64_t>> integers_attribute(const Node& node, Bytes name);
std::optional<Bytes> string_attribute(const Node& node, Bytes name);

Attribute make_integer_attribute(Model& model, Bytes name, std::int64_t value);
Attribute make_float_attribute(Model& model, Bytes name, float value);
Attribute make_integers_attribute(Model& model, Bytes name, const std::vector<std::int64_t>& values);
Attribute make_string_attribute(Model& model, Bytes name, const std::string& value);
Attribute make_tensor_attribute(Model& model, Bytes name, Tensor tensor);

// Access to the fields of an attribute as they are in the file.

// Calls visit(reader) for each occurrence of `field`. The file reader has already checked the structure.
template <class Visit>
void visit_field(const Attribute& attribute, AttributeField field, Visit visit) {
  for (const CarriedField& carried : attribute.carried) {
    if (carried.number != static_cast<std::uint32_t>(field)) continue;
    protozero::pbf_reader reader(carried.bytes.data(), carried.bytes.size());
    if (reader.next()) visit(reader);
  }
}

// The effective value of an attribute: the written value, or the default `otherwise` if there is no
// attribute.
//
// Empty if the attribute exists but has no readable value: a function's reference to its caller's attribute,
// or another type. Passes skip such nodes.

std::optional<std::int64_t> integer_setting(const Node& node, Bytes name, std::int64_t otherwise);
std::optional<float> float_setting(const Node& node, Bytes name, float otherwise);
std::optional<Bytes> string_setting(const Node& node, Bytes name, Bytes otherwise);
std::optional<std::vector<float>> floats_setting(const Node& node, Bytes name);

// Copies an attribute for a new node. Attributes that contain graphs cannot be copied; passes never rebuild
// nodes with bodies.
Kept<Attribute> copy_of(const Kept<Attribute>& attribute);

}  // namespace ounce::onnx
