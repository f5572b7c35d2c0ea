#include "onnx/settings.h"

#include <ounce/error.h>

#include <protozero/pbf_reader.hpp>

#include "onnx/attribute_fields.h"
#include "onnx/attributes.h"

namespace ounce::onnx {
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
    throw Error(ErrorCode::kUnsupported,
                "a node has a graph among its attributes, which its op knows nothing of");
  Attribute copy;
  copy.name = attribute->name;
  copy.tensors = attribute->tensors;
  copy.sparse_tensors = attribute->sparse_tensors;
  copy.is_list = attribute->is_list;
  copy.carried = attribute->carried;
  return {std::move(copy), attribute.file_bytes()};
}

bool is_op(const Node& node, std::string_view op_type) {
  return node.op_type == op_type && is_default_domain(node.domain);
}

}  // namespace ounce::onnx
