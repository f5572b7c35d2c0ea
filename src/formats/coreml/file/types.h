// The element types of Core ML: one row per type, with its numbers in programs and in weight files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/element_type.h"
#include "formats/coreml/file/schema.h"

namespace ounce::coreml {

// MIL's DataType.
enum class DataType : std::int32_t {
  kUnused = 0,
  kBool = 1,
  kString = 2,
  kFloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  kBfloat16 = 13,
  kInt8 = 21,
  kInt16 = 22,
  kInt32 = 23,
  kInt64 = 24,
  kInt4 = 25,
  kUint8 = 31,
  kUint16 = 32,
  kUint32 = 33,
  kUint64 = 34,
  kUint4 = 35,
  kUint2 = 36,
  kUint1 = 37,
  kUint6 = 38,
  kUint3 = 39,
  kFloat8E4M3FN = 40,
  kFloat8E5M2 = 41,
};

struct DataTypeInfo {
  DataType type;
  std::string_view name;
  ElementType element;  // kUndefined: a type that only Core ML has
  std::uint8_t bits;    // of one value; 0 for strings
  std::uint32_t blob;   // type number in weight files; 0: not allowed there
  TensorField field;    // for values in the program itself
  bool is_signed = false;

  bool is_packed() const { return bits != 0 && bits < 8; }  // the first value in the lowest bits, no padding
};

// Null for an unknown number.
const DataTypeInfo* find_type(std::int64_t number);
const DataTypeInfo& info_of(DataType type);
inline std::string_view name_of(DataType type) { return info_of(type).name; }
// The unsigned type with 1, 2, 3, 4, 6 or 8 bits.
DataType unsigned_type(unsigned bits);
bool is_float(DataType type);  // floating-point types of at least 16 bits

}  // namespace ounce::coreml
