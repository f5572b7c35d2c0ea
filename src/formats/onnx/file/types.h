// Parses TypeProto: the element type and shape of a tensor, or a description of another type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/file/model.h"

namespace ounce::onnx {

struct Dimension {
  std::int64_t value = -1;  // -1 if dynamic
  Bytes parameter;          // the name of a dynamic dimension, if any
};

struct ValueType {
  std::string kind;  // "tensor", "sequence", "map", "optional", "sparse tensor"; "" if unspecified
  ElementType element = ElementType::kUndefined;
  bool has_shape = false;
  std::vector<Dimension> shape;
};

// Throws Error{kBadInput} for broken messages and types nested deeper than kMaxNesting.
void check_type(Bytes type, const Origin& origin);
// Precondition: the type passed check_type().
ValueType read_type(Bytes type);
std::string describe(const ValueType& type);  // "float32[N,3,224,224]"

// The same tensor type with another element type. The model owns the bytes.
Bytes with_element(Model& model, Bytes type, ElementType element);
// The same tensor type with another shape. The model owns the bytes.
Bytes with_shape(Model& model, Bytes type, const std::vector<Dimension>& shape);

// New TypeProtos. The model owns the bytes.
Bytes make_element_type(Model& model, ElementType element);  // of any shape
Bytes make_tensor_type(Model& model, ElementType element, const std::vector<std::int64_t>& dims);

}  // namespace ounce::onnx
