#include "onnx/types.h"

#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

#include "onnx/reader.h"

namespace ounce::onnx {
namespace {

void read_dimension(Bytes message, const Origin& origin, ValueType& type) {
  Dimension dimension;
  Cursor cursor(message, origin, "Dimension");
  while (cursor.next()) {
    switch (cursor.field<DimensionField>()) {
      case DimensionField::kValue: dimension.value = cursor.integer(); break;
      case DimensionField::kParameter: dimension.parameter = cursor.name(); break;
      default: cursor.skip();
    }
  }
  type.shape.push_back(dimension);
}

void read_shape(Bytes message, const Origin& origin, ValueType& type) {
  type.has_shape = true;
  Cursor cursor(message, origin, "TensorShapeProto");
  while (cursor.next()) {
    if (cursor.field<ShapeField>() == ShapeField::kDim) {
      read_dimension(cursor.bytes(), origin, type);
    } else {
      cursor.skip();
    }
  }
}

void read_tensor_type(Bytes message, const Origin& origin, ValueType& type) {
  Cursor cursor(message, origin, "TypeProto.Tensor");
  while (cursor.next()) {
    switch (cursor.field<TensorTypeField>()) {
      case TensorTypeField::kElementType: {
        const std::int64_t number = cursor.integer();
        const auto element = element_type_of(number);
        if (!element && number != 0) cursor.fail(fmt::format("unknown element type {}", number));
        type.element = element.value_or(ElementType::kUndefined);
        break;
      }
      case TensorTypeField::kShape: read_shape(cursor.bytes(), origin, type); break;
      default: cursor.skip();
    }
  }
}

ValueType read(Bytes message, const Origin& origin, int depth);

// Sequence, optional and map: what they hold is checked, and described by its kind only.
void read_container(Bytes message, const Origin& origin, std::uint32_t type_field, int depth) {
  Cursor cursor(message, origin, "TypeProto");
  while (cursor.next()) {
    if (cursor.number() == type_field) {
      read(cursor.bytes(), origin, depth + 1);
    } else {
      cursor.skip();
    }
  }
}

ValueType read(Bytes message, const Origin& origin, int depth) {
  ValueType type;
  Cursor cursor(message, origin, "TypeProto");
  if (depth > kMaxNesting) cursor.fail(fmt::format("types are nested more than {} deep", kMaxNesting));
  const auto set_kind = [&](const char* kind) {
    if (!type.kind.empty()) cursor.fail("a value has two types");
    type.kind = kind;
  };
  while (cursor.next()) {
    switch (cursor.field<TypeField>()) {
      case TypeField::kTensor:
        set_kind("tensor");
        read_tensor_type(cursor.bytes(), origin, type);
        break;
      case TypeField::kSparseTensor:
        set_kind("sparse tensor");
        read_tensor_type(cursor.bytes(), origin, type);
        break;
      case TypeField::kSequence:
        set_kind("sequence");
        read_container(cursor.bytes(), origin, static_cast<std::uint32_t>(SequenceTypeField::kElementType),
                       depth);
        break;
      case TypeField::kOptional:
        set_kind("optional");
        read_container(cursor.bytes(), origin, static_cast<std::uint32_t>(SequenceTypeField::kElementType),
                       depth);
        break;
      case TypeField::kMap:
        set_kind("map");
        read_container(cursor.bytes(), origin, static_cast<std::uint32_t>(MapTypeField::kValueType), depth);
        break;
      default: cursor.skip();
    }
  }
  return type;
}

}  // namespace

void check_type(Bytes type, const Origin& origin) { read(type, origin, 0); }

ValueType read_type(Bytes type) { return read(type, Origin{type, "type"}, 0); }

std::string describe(const ValueType& type) {
  if (type.kind.empty()) return "?";
  std::string text = type.kind == "tensor" ? "" : type.kind;
  if (type.element != ElementType::kUndefined) {
    if (!text.empty()) text += ' ';
    text += name_of(type.element);
  }
  if (!type.has_shape) return text;
  text += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const Dimension& dimension = type.shape[i];
    if (i != 0) text += ',';
    if (dimension.value >= 0) {
      text += std::to_string(dimension.value);
    } else {
      text += dimension.parameter.empty() ? "?" : dimension.parameter;
    }
  }
  return text + ']';
}

Bytes with_element(Model& model, Bytes type, ElementType element) {
  const ValueType old = read_type(type);
  std::string bytes;
  {
    protozero::pbf_writer writer(bytes);
    protozero::pbf_writer tensor(writer, static_cast<std::uint32_t>(TypeField::kTensor));
    tensor.add_int32(static_cast<std::uint32_t>(TensorTypeField::kElementType),
                     static_cast<std::int32_t>(element));
    if (old.has_shape) {
      protozero::pbf_writer shape(tensor, static_cast<std::uint32_t>(TensorTypeField::kShape));
      for (const Dimension& dimension : old.shape) {
        protozero::pbf_writer dim(shape, static_cast<std::uint32_t>(ShapeField::kDim));
        if (dimension.value >= 0) {
          dim.add_int64(static_cast<std::uint32_t>(DimensionField::kValue), dimension.value);
        } else if (!dimension.parameter.empty()) {
          dim.add_bytes(static_cast<std::uint32_t>(DimensionField::kParameter), dimension.parameter.data(),
                        dimension.parameter.size());
        }
      }
    }
  }
  return model.intern(std::move(bytes));
}

Bytes make_tensor_type(Model& model, ElementType element, const std::vector<std::int64_t>& dims) {
  std::string bytes;
  {
    protozero::pbf_writer type(bytes);
    protozero::pbf_writer tensor(type, static_cast<std::uint32_t>(TypeField::kTensor));
    tensor.add_int32(static_cast<std::uint32_t>(TensorTypeField::kElementType),
                     static_cast<std::int32_t>(element));
    protozero::pbf_writer shape(tensor, static_cast<std::uint32_t>(TensorTypeField::kShape));
    for (const std::int64_t dim : dims) {
      protozero::pbf_writer dimension(shape, static_cast<std::uint32_t>(ShapeField::kDim));
      dimension.add_int64(static_cast<std::uint32_t>(DimensionField::kValue), dim);
    }
  }
  return model.intern(std::move(bytes));
}

}  // namespace ounce::onnx
