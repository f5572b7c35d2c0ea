#include "formats/coreml/file/types.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>

namespace ounce::coreml {
namespace {

constexpr auto kTypes = std::to_array<DataTypeInfo>({
    {DataType::kBool, "bool", ElementType::kBool, 8, 0, TensorField::kBools},
    {DataType::kString, "string", ElementType::kString, 0, 0, TensorField::kStrings},
    {DataType::kFloat16, "float16", ElementType::kFloat16, 16, 1, TensorField::kBytes},
    {DataType::kFloat32, "float32", ElementType::kFloat, 32, 2, TensorField::kFloats},
    {DataType::kFloat64, "float64", ElementType::kDouble, 64, 0, TensorField::kDoubles},
    {DataType::kBfloat16, "bfloat16", ElementType::kBfloat16, 16, 5, TensorField::kBytes},
    {DataType::kInt8, "int8", ElementType::kInt8, 8, 4, TensorField::kBytes, true},
    {DataType::kInt16, "int16", ElementType::kInt16, 16, 6, TensorField::kInts, true},
    {DataType::kInt32, "int32", ElementType::kInt32, 32, 14, TensorField::kInts, true},
    {DataType::kInt64, "int64", ElementType::kInt64, 64, 0, TensorField::kLongInts, true},
    {DataType::kInt4, "int4", ElementType::kInt4, 4, 8, TensorField::kBytes, true},
    {DataType::kUint8, "uint8", ElementType::kUint8, 8, 3, TensorField::kBytes},
    {DataType::kUint16, "uint16", ElementType::kUint16, 16, 7, TensorField::kInts},
    {DataType::kUint32, "uint32", ElementType::kUint32, 32, 15, TensorField::kBytes},
    {DataType::kUint64, "uint64", ElementType::kUint64, 64, 0, TensorField::kBytes},
    {DataType::kUint4, "uint4", ElementType::kUint4, 4, 11, TensorField::kBytes},
    {DataType::kUint2, "uint2", ElementType::kUint2, 2, 10, TensorField::kBytes},
    {DataType::kUint1, "uint1", ElementType::kUndefined, 1, 9, TensorField::kBytes},
    {DataType::kUint6, "uint6", ElementType::kUndefined, 6, 13, TensorField::kBytes},
    {DataType::kUint3, "uint3", ElementType::kUndefined, 3, 12, TensorField::kBytes},
    {DataType::kFloat8E4M3FN, "float8e4m3fn", ElementType::kFloat8E4M3FN, 8, 16, TensorField::kBytes},
    {DataType::kFloat8E5M2, "float8e5m2", ElementType::kFloat8E5M2, 8, 17, TensorField::kBytes},
});

}  // namespace

const DataTypeInfo* find_type(std::int64_t number) {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [&](const DataTypeInfo& row) {
    return static_cast<std::int64_t>(row.type) == number;
  });
  return found == kTypes.end() ? nullptr : found;
}

const DataTypeInfo& info_of(DataType type) {
  const DataTypeInfo* const found = find_type(static_cast<std::int64_t>(type));
  if (found == nullptr) throw Error(ErrorCode::kInternal, "unknown type of Core ML");
  return *found;
}

DataType unsigned_type(unsigned bits) {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [&](const DataTypeInfo& row) {
    return row.bits == bits && row.name.starts_with("uint");
  });
  if (found == kTypes.end()) throw Error(ErrorCode::kInternal, "no unsigned type with this number of bits");
  return found->type;
}

bool is_float(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kFloat32 || type == DataType::kFloat64 ||
         type == DataType::kBfloat16;
}

}  // namespace ounce::coreml
