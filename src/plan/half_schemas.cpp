#include "plan/half_schemas.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

namespace ounce::plan {

using onnx::Bytes;
using onnx::OpSchema;

namespace {

constexpr std::int64_t kNewestOpset = 1000;

}  // namespace

bool has_sequence(const OpSchema& schema) {
  if (schema.inputs.find('*') != std::string_view::npos) return true;
  for (const std::string_view list : {schema.inputs, schema.outputs}) {
    for (const char letter : list) {
      if (OpSchema::is_variable(letter) && schema.types_of(letter) == "*") return true;
    }
  }
  return false;
}

bool shares_type(const OpSchema& schema, const onnx::Node& node, Bytes name, ElementType half) {
  const auto is_shared = [&](const std::vector<Bytes>& names, auto letter_of) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != name) continue;
      const std::optional<char> letter = letter_of(i);
      if (letter && OpSchema::is_variable(*letter) && schema.allows(*letter, half)) return true;
    }
    return false;
  };
  return is_shared(node.inputs, [&](std::size_t i) { return schema.input(i); }) ||
         is_shared(node.outputs, [&](std::size_t i) { return schema.output(i); });
}

std::string why_no_type(const OpSchema& schema, ElementType half) {
  const auto allows = [&](const OpSchema& each) {
    const std::optional<char> letter = each.input(0);
    return letter && OpSchema::is_variable(*letter) && each.allows(*letter, half);
  };
  const std::string what = fmt::format("ONNX has no {} of {}", schema.op_type, name_of(half));
  const OpSchema* newest = onnx::find_op_schema(schema.domain, schema.op_type, kNewestOpset);
  if (newest == nullptr || !allows(*newest)) return what;
  std::int64_t first = newest->since;
  for (std::int64_t version = first; version > schema.since; --version) {
    const OpSchema* older = onnx::find_op_schema(schema.domain, schema.op_type, version);
    if (allows(*older)) first = older->since;
  }
  return fmt::format("{} before opset {}", what, first);
}

}  // namespace ounce::plan
