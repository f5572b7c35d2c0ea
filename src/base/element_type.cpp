#include "base/element_type.h"

#include <array>
#include <cstddef>

namespace ounce {
namespace {

// In the order of their numbers, so that a type is its own index.
constexpr std::array<ElementTypeInfo, 29> kTypes = {{
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

constexpr bool is_its_own_index() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(is_its_own_index());

}  // namespace

std::optional<ElementType> element_type_of(std::int64_t number) {
  if (number <= 0 || number >= static_cast<std::int64_t>(kTypes.size())) return std::nullopt;
  return static_cast<ElementType>(number);
}

const ElementTypeInfo& info_of(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace ounce
