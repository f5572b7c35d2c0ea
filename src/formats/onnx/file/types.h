// What a TypeProto says: the element type and shape of a tensor, or how to call anything else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/model.h"

namespace ounce::onnx {

struct Dimension {
  std::int64_t value = -1;  // -1 when it is not fixed
  Bytes parameter;          // its name then, if it has one
};

struct ValueType {
  std::string kind;  // "tensor", "sequence", "map", "optional", "sparse tensor"; "" when nothing is said
  ElementType element = ElementType::kUndefined;
  bool has_shape = false;
  std::vector<Dimension> shape;
};

// Throws Error{kBadInput} for broken messages and types nested deeper than kMaxNesting.
void check_type(Bytes type, const Origin& origin);
// For a type that passed check_type().
ValueType read_type(Bytes type);
std::string describe(const ValueType& type);  // "float32[N,3,224,224]"

// The same type with another element, kept in the model's text. For tensors.
Bytes with_element(Model& model, Bytes type, ElementType element);

// TypeProtos of our own, kept in the model's text.
Bytes make_element_type(Model& model, ElementType element);  // of any shape
Bytes make_tensor_type(Model& model, ElementType element, const std::vector<std::int64_t>& dims);

}  // namespace ounce::onnx
