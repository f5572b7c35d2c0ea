#include "formats/onnx/file/types.h"

#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

#include "formats/onnx/file/reader.h"

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

// Sequences, optionals and maps: the content is checked, but only the kind is reported.
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

namespace {

// Adds submessages as a whole: protozero's nested writers omit empty ones, but an unknown dimension still
// counts.
void add_message(std::string& bytes, auto field, const std::string& message) {
  protozero::pbf_writer(bytes).add_message(static_cast<std::uint32_t>(field), message);
}

std::string tensor_type(ElementType element, const std::vector<Dimension>* shape) {
  std::string tensor;
  protozero::pbf_writer(tensor).add_int32(static_cast<std::uint32_t>(TensorTypeField::kElementType),
                                          static_cast<std::int32_t>(element));
  if (shape != nullptr) {
    std::string dims;
    for (const Dimension& dimension : *shape) {
      std::string dim;
      if (dimension.value >= 0) {
        protozero::pbf_writer(dim).add_int64(static_cast<std::uint32_t>(DimensionField::kValue),
                                             dimension.value);
      } else if (!dimension.parameter.empty()) {
        protozero::pbf_writer(dim).add_bytes(static_cast<std::uint32_t>(DimensionField::kParameter),
                                             dimension.parameter.data(), dimension.parameter.size());
      }
      add_message(dims, ShapeField::kDim, dim);
    }
    add_message(tensor, TensorTypeField::kShape, dims);
  }
  std::string type;
  add_message(type, TypeField::kTensor, tensor);
  return type;
}

}  // namespace

Bytes with_element(Model& model, Bytes type, ElementType element) {
  const ValueType old = read_type(type);
  return model.intern(tensor_type(element, old.has_shape ? &old.shape : nullptr));
}

Bytes with_shape(Model& model, Bytes type, const std::vector<Dimension>& shape) {
  return model.intern(tensor_type(read_type(type).element, &shape));
}

Bytes make_element_type(Model& model, ElementType element) {
  return model.intern(tensor_type(element, nullptr));
}

Bytes make_tensor_type(Model& model, ElementType element, const std::vector<std::int64_t>& dims) {
  std::vector<Dimension> shape;
  for (const std::int64_t dim : dims) shape.push_back({dim, {}});
  return model.intern(tensor_type(element, &shape));
}

}  // namespace ounce::onnx
