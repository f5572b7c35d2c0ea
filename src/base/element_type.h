// The element types of tensors: names, widths, and their numbers in ONNX files.
#pragma once

#include <array>
#include <cstddef>
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

// In numeric order, so that a type is its own index.
inline constexpr std::array<ElementTypeInfo, 29> kElementTypes = {{
    {ElementType::kUndefined, "undefined", 0},
    {ElementType::kFloat, "float32", 32},
    {ElementType::kUint8, "uint8", 8},
    {ElementType::kInt8, "int8", 8},
    {ElementType::kUint16, "uint16", 16},
    {ElementType::kInt16, "int16", 16},
    {ElementType::kInt32, "int32", 32},
    {ElementType::kInt64, "int64", 64},
    {ElementType::kString, "string", 0},
    {ElementType::kBool, "bool", 8},
    {ElementType::kFloat16, "float16", 16},
    {ElementType::kDouble, "float64", 64},
    {ElementType::kUint32, "uint32", 32},
    {ElementType::kUint64, "uint64", 64},
    {ElementType::kComplex64, "complex64", 64},
    {ElementType::kComplex128, "complex128", 128},
    {ElementType::kBfloat16, "bfloat16", 16},
    {ElementType::kFloat8E4M3FN, "float8e4m3fn", 8},
    {ElementType::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8},
    {ElementType::kFloat8E5M2, "float8e5m2", 8},
    {ElementType::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8},
    {ElementType::kUint4, "uint4", 4},
    {ElementType::kInt4, "int4", 4},
    {ElementType::kFloat4E2M1, "float4e2m1", 4},
    {ElementType::kFloat8E8M0, "float8e8m0", 8},
    {ElementType::kUint2, "uint2", 2},
    {ElementType::kInt2, "int2", 2},
    {ElementType::kFloat6E2M3, "float6e2m3", 6},
    {ElementType::kFloat6E3M2, "float6e3m2", 6},
}};
static_assert([] {
  for (std::size_t i = 0; i < kElementTypes.size(); ++i) {
    if (static_cast<std::size_t>(kElementTypes[i].type) != i) return false;
  }
  return true;
}());

// Empty for unknown numbers.
inline std::optional<ElementType> element_type_of(std::int64_t number) {
  if (number <= 0 || number >= static_cast<std::int64_t>(kElementTypes.size())) return std::nullopt;
  return static_cast<ElementType>(number);
}
inline const ElementTypeInfo& info_of(ElementType type) {
  return kElementTypes[static_cast<std::size_t>(type)];
}
inline std::string_view name_of(ElementType type) { return info_of(type).name; }

inline bool is_float_weight_type(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kDouble;
}

}  // namespace ounce
