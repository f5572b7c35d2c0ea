// The values of a program: reading those that are in the program itself, and making new ones.
//
//   std::optional<std::int64_t> axis = integer_of(*operation.attribute("axis"));
//   const RawValues weights(value);             // wherever they are
//   Value made = integer_value(model, 0);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// The values of a tensor, little-endian and row-major; those of fewer than 8 bits are packed. A view of the
// mapped file; of a copy inside where the program spells them out. Empty for strings.
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

// Of a tensor of strings.
std::vector<Bytes> strings_of(const Value& value);
// Of one value, and of integers of any width; nothing for anything else.
std::optional<Bytes> string_of(const Value& value);
std::optional<std::int64_t> integer_of(const Value& value);
std::optional<std::vector<std::int64_t>> integers_of(const Value& value);
std::optional<bool> bool_of(const Value& value);

// Of an input of an operation with one binding: its value or its name; null or nothing if there is none.
const Value* bound_value(const Operation& operation, Bytes input);
std::optional<Bytes> bound_name(const Operation& operation, Bytes input);

// How many values an ImmediateValue's tensor holds, as `type` counts them; every field is checked. Nothing
// for tuples, lists and dictionaries, which are checked too. `hides_blob` becomes true if there is a value
// inside of them that is in a weight file. Throws Error{kBadInput}.
struct ImmediateContent {
  std::optional<std::uint64_t> values;  // of a tensor
  std::uint64_t bytes = 0;              // of a tensor in raw bytes
  bool is_raw = false, hides_blob = false;
};
ImmediateContent check_immediate(Bytes message, const protobuf::Origin& origin);

// New types and values. `model` keeps their texts.
ValueType tensor_type(Model& model, DataType type, const std::vector<std::int64_t>& dims);
Value string_value(Model& model, const std::string& text);
Value integer_value(Model& model, std::int32_t number);
// Little-endian `bytes` of a tensor, in the field that its type has.
Value tensor_value(Model& model, DataType type, const std::vector<std::int64_t>& dims,
                   const std::string& bytes);
Value blob_value(Model& model, DataType type, const std::vector<std::int64_t>& dims, Blob blob);

}  // namespace ounce::coreml
