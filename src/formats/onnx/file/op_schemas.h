// The ops of ONNX and of ONNX Runtime: which of their inputs and outputs have one type, and which types.
//
// Types are letters. A parameter is a variable (A, B … in the order of `variables`) or a type of its own:
//
//   {"", "Resize", 13, "ABfl", "A", "T1=fhgd… T2=fhd", 1, 1}     X and the output have one type, scales are
//   float32
//
//   f float32   h float16   g bfloat16   d double   b bool   t string   ? another tensor   * no tensor
//   c w i l     int8 to int64              o v u m     uint8 to uint64
//
// The last parameter may be repeated: "A+" with one type for all, "A!" with a type for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/element_type.h"
#include "formats/onnx/file/cursor.h"

namespace ounce::onnx {

struct OpSchema {
  std::string_view domain, op_type;
  std::int64_t since;  // the opset version that brought it
  std::string_view inputs, outputs, variables;
  std::uint32_t needed_inputs;  // a bit for each that cannot be left out
  std::size_t least_outputs;

  // The letter of an input or output; nothing when the op has no such one.
  std::optional<char> input(std::size_t i) const;
  std::optional<char> output(std::size_t i) const;

  bool takes(std::size_t count) const;  // so many inputs, at most
  bool needs(std::size_t input) const;

  // The same letter means the same type.
  static bool is_variable(char letter) { return letter >= 'A' && letter <= 'Z'; }
  // The name of a variable, "T1".
  std::string_view name_of(char variable) const;
  // The types that a variable may have, as letters.
  std::string_view types_of(char variable) const;
  bool allows(char letter, ElementType type) const;
};

// The op as a model that imports this version of its domain has it; null for unknown ones.
const OpSchema* find_op_schema(Bytes domain, Bytes op_type, std::int64_t version);

// The newest opset of ONNX that an op here is of: what later ones brought is not known.
std::int64_t newest_known_opset();

// kUndefined for letters that are no single tensor type.
ElementType type_of_letter(char letter);

}  // namespace ounce::onnx
