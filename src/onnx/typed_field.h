// The field of TensorProto that holds the values of an element type when they are not raw.
#pragma once

#include "base/element_type.h"
#include "onnx/schema.h"

namespace ounce::onnx {

struct TypedField {
  TensorField field;
  int per_entry;  // elements in one entry of the field; complex numbers take two entries: 0
};
TypedField typed_field_of(ElementType type);

}  // namespace ounce::onnx
