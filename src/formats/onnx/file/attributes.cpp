#include "formats/onnx/file/attributes.h"

#include <ounce/error.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace ounce::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

std::uint32_t number(AttributeField field) { return static_cast<std::uint32_t>(field); }

bool has_field(const Attribute& attribute, AttributeField field) {
  bool found = false;
  visit_field(attribute, field, [&](pbf_reader&) { found = true; });
  return found;
}

AttributeType type_of(const Attribute& attribute) {
  auto type = AttributeType::kUndefined;
  visit_field(attribute, AttributeField::kType,
              [&](pbf_reader& reader) { type = static_cast<AttributeType>(reader.get_int64()); });
  return type;
}

Attribute with_fields(Model& model, Bytes name, const std::string& value_field, AttributeField field,
                      AttributeType type) {
  Attribute attribute;
  attribute.name = name;
  if (!value_field.empty()) attribute.carried.push_back({number(field), model.intern(value_field)});
  std::string type_field;
  protozero::pbf_writer(type_field).add_int64(number(AttributeField::kType), static_cast<std::int64_t>(type));
  attribute.carried.push_back({number(AttributeField::kType), model.intern(type_field)});
  return attribute;
}

}  // namespace

const Attribute* find_attribute(const Node& node, Bytes name) {
  for (const auto& attribute : node.attributes) {
    if (attribute->name == name) return &*attribute;
  }
  return nullptr;
}

std::optional<std::int64_t> integer_attribute(const Node& node, Bytes name) {
  std::optional<std::int64_t> value;
  if (const Attribute* attribute = find_attribute(node, name)) {
    visit_field(*attribute, AttributeField::kInt, [&](pbf_reader& reader) {
      if (reader.wire_type() == pbf_wire_type::varint) value = reader.get_int64();
    });
  }
  return value;
}

std::optional<std::vector<std::int64_t>> integers_attribute(const Node& node, Bytes name) {
  const Attribute* attribute = find_attribute(node, name);
  if (attribute == nullptr || has_field(*attribute, AttributeField::kReference)) return std::nullopt;
  std::vector<std::int64_t> values;
  visit_field(*attribute, AttributeField::kInts, [&](pbf_reader& reader) {
    if (reader.wire_type() == pbf_wire_type::varint) {
      values.push_back(reader.get_int64());
    } else if (reader.wire_type() == pbf_wire_type::length_delimited) {
      for (const std::int64_t value : reader.get_packed_int64()) values.push_back(value);
    }
  });
  // Only its type distinguishes an empty list from a missing one.
  if (values.empty() && type_of(*attribute) != AttributeType::kInts) return std::nullopt;
  return values;
}

std::optional<Bytes> string_attribute(const Node& node, Bytes name) {
  std::optional<Bytes> value;
  if (const Attribute* attribute = find_attribute(node, name)) {
    visit_field(*attribute, AttributeField::kString, [&](pbf_reader& reader) {
      if (reader.wire_type() != pbf_wire_type::length_delimited) return;
      const auto view = reader.get_view();
      value = Bytes(view.data(), view.size());
    });
  }
  return value;
}

Attribute make_integer_attribute(Model& model, Bytes name, std::int64_t value) {
  std::string field;
  protozero::pbf_writer(field).add_int64(number(AttributeField::kInt), value);
  return with_fields(model, name, field, AttributeField::kInt, AttributeType::kInt);
}

Attribute make_float_attribute(Model& model, Bytes name, float value) {
  std::string field;
  protozero::pbf_writer(field).add_float(number(AttributeField::kFloat), value);
  return with_fields(model, name, field, AttributeField::kFloat, AttributeType::kFloat);
}

Attribute make_integers_attribute(Model& model, Bytes name, const std::vector<std::int64_t>& values) {
  // A carried field holds one value, so the list is packed.
  std::string field;
  protozero::pbf_writer(field).add_packed_int64(number(AttributeField::kInts), values.begin(), values.end());
  return with_fields(model, name, field, AttributeField::kInts, AttributeType::kInts);
}

Attribute make_string_attribute(Model& model, Bytes name, const std::string& value) {
  std::string field;
  protozero::pbf_writer(field).add_string(number(AttributeField::kString), value);
  return with_fields(model, name, field, AttributeField::kString, AttributeType::kString);
}

Attribute make_tensor_attribute(Model& model, Bytes name, Tensor tensor) {
  Attribute attribute = with_fields(model, name, {}, AttributeField::kTensor, AttributeType::kTensor);
  attribute.tensors.emplace_back(std::move(tensor));
  return attribute;
}

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

}  // namespace

std::optional<std::int64_t> integer_setting(const Node& node, Bytes name, std::int64_t otherwise) {
  if (find_attribute(node, name) == nullptr) return otherwise;
  return integer_attribute(node, name);
}

std::optional<Bytes> string_setting(const Node& node, Bytes name, Bytes otherwise) {
  if (find_attribute(node, name) == nullptr) return otherwise;
  return string_attribute(node, name);
}

std::optional<float> float_setting(const Node& node, Bytes name, float otherwise) {
  const Attribute* attribute = find_attribute(node, name);
  if (attribute == nullptr) return otherwise;
  std::optional<float> value;
  visit_field(*attribute, AttributeField::kFloat, [&](pbf_reader& reader) {
    if (reader.wire_type() == pbf_wire_type::fixed32) value = reader.get_float();
  });
  return value;
}

std::optional<std::vector<float>> floats_setting(const Node& node, Bytes name) {
  const Attribute* attribute = find_attribute(node, name);
  if (attribute == nullptr) return std::nullopt;
  std::vector<float> values;
  visit_field(*attribute, AttributeField::kFloats, [&](pbf_reader& reader) {
    if (reader.wire_type() == pbf_wire_type::fixed32) {
      values.push_back(reader.get_float());
    } else if (reader.wire_type() == pbf_wire_type::length_delimited) {
      for (const float value : reader.get_packed_float()) values.push_back(value);
    }
  });
  if (values.empty()) return std::nullopt;
  return values;
}

Kept<Attribute> copy_of(const Kept<Attribute>& attribute) {
  if (!attribute->graphs.empty())
    throw Error(ErrorCode::kUnsupported, "a node has a subgraph that its op does not support");
  Attribute copy;
  copy.name = attribute->name;
  copy.tensors = attribute->tensors;
  copy.sparse_tensors = attribute->sparse_tensors;
  copy.is_list = attribute->is_list;
  copy.carried = attribute->carried;
  return {std::move(copy), attribute.file_bytes()};
}

}  // namespace ounce::onnx
