// Reads and creates values of a program.
//
//   std::optional<std::int64_t> axis = integer_of(*operation.attribute("axis"));
//   const RawValues weights(value);             // in the program or in a weight file
//   Value made = integer_value(model, 0);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// The values of a tensor, little-endian and row-major; values of fewer than 8 bits are packed. A view into
// the mapped file, or a copy of values that the program stores in another form. Empty for strings.
class RawValues {
 public:
  explicit RawValues(const Value& value);
  RawValues(const RawValues&) = delete;
  RawValues& operator=(const RawValues&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  std::string decoded_;
  Bytes bytes_;
};

// The values of a tensor of strings.
std::vector<Bytes> strings_of(const Value& value);
// Scalars, and integers of any width; nullopt for other types.
std::optional<Bytes> string_of(const Value& value);
std::optional<std::int64_t> integer_of(const Value& value);
std::optional<std::vector<std::int64_t>> integers_of(const Value& value);
std::optional<bool> bool_of(const Value& value);

// The value or the name of an input with a single binding; null or nullopt if there is none.
const Value* bound_value(const Operation& operation, Bytes input);
std::optional<Bytes> bound_name(const Operation& operation, Bytes input);

// Checks all fields of an ImmediateValue and counts the values of its tensor; nullopt for tuples, lists and
// dictionaries. `hides_blob` is true if one of these contains a value in a weight file. Throws
// Error{kBadInput}.
struct ImmediateContent {
  std::optional<std::uint64_t> values;  // of a tensor
  std::uint64_t bytes = 0;              // of a tensor in raw bytes
  bool is_raw = false, hides_blob = false;
};
ImmediateContent check_immediate(Bytes message, const protobuf::Origin& origin);

// Create types and values. `model` owns their texts.
ValueType tensor_type(Model& model, DataType type, const std::vector<std::int64_t>& dims);
Value string_value(Model& model, const std::string& text);
Value integer_value(Model& model, std::int32_t number);
// `bytes` are the little-endian values.
Value tensor_value(Model& model, DataType type, const std::vector<std::int64_t>& dims,
                   const std::string& bytes);
Value blob_value(Model& model, DataType type, const std::vector<std::int64_t>& dims, Blob blob);

}  // namespace ounce::coreml
