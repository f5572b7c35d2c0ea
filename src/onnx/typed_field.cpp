#include "onnx/typed_field.h"

namespace ounce::onnx {

TypedField typed_field_of(ElementType type) {
  using enum ElementType;
  using enum TensorField;
  switch (type) {
    case kUndefined:
      return {kRawData, 1};
    case kFloat:
      return {kFloatData, 1};
    case kInt64:
      return {kInt64Data, 1};
    case kString:
      return {kStringData, 1};
    case kDouble:
      return {kDoubleData, 1};
    case kUint32:
    case kUint64:
      return {kUint64Data, 1};
    case kComplex64:
      return {kFloatData, 0};
    case kComplex128:
      return {kDoubleData, 0};
    case kUint4:
    case kInt4:
    case kFloat4E2M1:
      return {kInt32Data, 2};
    case kUint2:
    case kInt2:
      return {kInt32Data, 4};
    default:
      return {kInt32Data, 1};
  }
}

}  // namespace ounce::onnx
