// The element types of tensors: their names and widths. The numbers are those of ONNX files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ounce {

enum class ElementType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;  // in lower case, as NumPy and ONNX write it
  int bits;               // of one element in raw data; 0 for strings
};

// Nothing for a number that no schema knows.
std::optional<ElementType> element_type_of(std::int64_t number);
const ElementTypeInfo& info_of(ElementType type);
inline std::string_view name_of(ElementType type) { return info_of(type).name; }

inline bool is_float_weight_type(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kDouble;
}

}  // namespace ounce
