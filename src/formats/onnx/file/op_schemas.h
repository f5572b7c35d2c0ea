// The type constraints of the ops of ONNX and ONNX Runtime: the allowed types of inputs and outputs, and
// which of them must be equal.
//
// Types are letters. A parameter is a type variable (A, B … in the order of `variables`) or a fixed type:
//
//   {"", "Resize", 13, "ABfl", "A", "T1=fhgd… T2=fhd", 1, 1}
//     X and the output have the same type; the scales are float32
//
//   f float32   h float16   g bfloat16   d double   b bool   t string   ? other tensors   * not a tensor
//   c w i l     int8 to int64              o v u m     uint8 to uint64
//
// The last parameter may be repeated: "A+" with the same type for all, "A!" with separate types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/element_type.h"
#include "formats/protobuf/cursor.h"

namespace ounce::onnx {

using protobuf::Bytes;

struct OpSchema {
  std::string_view domain, op_type;
  std::int64_t since;  // the opset version that introduced it
  std::string_view inputs, outputs, variables;
  std::uint32_t needed_inputs;  // bit mask of the required inputs
  std::size_t least_outputs;

  // The letter of an input or output; empty if the op does not have it.
  std::optional<char> input(std::size_t i) const;
  std::optional<char> output(std::size_t i) const;

  bool takes(std::size_t count) const;  // whether it accepts `count` inputs
  bool needs(std::size_t input) const;

  // Equal letters mean equal types.
  static bool is_variable(char letter) { return letter >= 'A' && letter <= 'Z'; }
  // The name of a variable, "T1".
  std::string_view name_of(char variable) const;
  // The types that a variable may have, as letters.
  std::string_view types_of(char variable) const;
  bool allows(char letter, ElementType type) const;
};

// The schema for a model that imports `version` of the domain; null for unknown ops.
const OpSchema* find_op_schema(Bytes domain, Bytes op_type, std::int64_t version);

// The newest ONNX opset that the table contains. Later changes are unknown.
std::int64_t newest_known_opset();

// kUndefined for letters that do not mean a single tensor type.
ElementType type_of_letter(char letter);

}  // namespace ounce::onnx
