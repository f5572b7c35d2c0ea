#include "formats/onnx/file/op_schemas.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "formats/onnx/file/model.h"

namespace ounce::onnx {
namespace {

constexpr OpSchema kSchemas[] = {
#include "formats/onnx/file/op_schemas.inc"
};

constexpr auto kLetters = std::to_array<std::pair<char, ElementType>>({
    {'f', ElementType::kFloat},
    {'h', ElementType::kFloat16},
    {'g', ElementType::kBfloat16},
    {'d', ElementType::kDouble},
    {'b', ElementType::kBool},
    {'t', ElementType::kString},
    {'c', ElementType::kInt8},
    {'w', ElementType::kInt16},
    {'i', ElementType::kInt32},
    {'l', ElementType::kInt64},
    {'o', ElementType::kUint8},
    {'v', ElementType::kUint16},
    {'u', ElementType::kUint32},
    {'m', ElementType::kUint64},
});

using Key = std::tuple<std::string_view, std::string_view, std::int64_t>;
constexpr Key key_of(const OpSchema& schema) { return {schema.domain, schema.op_type, schema.since}; }
static_assert(std::is_sorted(std::begin(kSchemas), std::end(kSchemas),
                             [](const OpSchema& a, const OpSchema& b) { return key_of(a) < key_of(b); }));

std::optional<char> parameter(std::string_view list, std::size_t i) {
  const bool is_repeated = !list.empty() && (list.back() == '+' || list.back() == '!');
  if (is_repeated) list.remove_suffix(1);
  if (i < list.size()) return list[i];
  return is_repeated ? std::optional(list.back()) : std::nullopt;
}

}  // namespace

std::optional<char> OpSchema::input(std::size_t i) const { return parameter(inputs, i); }
std::optional<char> OpSchema::output(std::size_t i) const { return parameter(outputs, i); }
bool OpSchema::takes(std::size_t count) const { return count == 0 || input(count - 1).has_value(); }
bool OpSchema::needs(std::size_t i) const { return i < 32 && (needed_inputs >> i & 1U) != 0; }

namespace {

// "T1=fhd", the entry of a variable in the list.
std::string_view entry_of(std::string_view variables, char variable) {
  for (char at = 'A'; at < variable; ++at) {
    const std::size_t space = variables.find(' ');
    if (space == std::string_view::npos) return {};
    variables.remove_prefix(space + 1);
  }
  return variables.substr(0, variables.find(' '));
}

}  // namespace

std::string_view OpSchema::name_of(char variable) const {
  const std::string_view entry = entry_of(variables, variable);
  return entry.substr(0, entry.find('='));
}

std::string_view OpSchema::types_of(char variable) const {
  const std::string_view entry = entry_of(variables, variable);
  return entry.substr(std::min(entry.size(), entry.find('=') + 1));
}

bool OpSchema::allows(char letter, ElementType type) const {
  if (!is_variable(letter)) return type_of_letter(letter) == type;
  const std::string_view types = types_of(letter);
  return std::any_of(types.begin(), types.end(), [&](char each) { return type_of_letter(each) == type; });
}

const OpSchema* find_op_schema(Bytes domain, Bytes op_type, std::int64_t version) {
  const Key wanted{is_default_domain(domain) ? Bytes() : domain, op_type, version};
  const auto* after = std::upper_bound(std::begin(kSchemas), std::end(kSchemas), wanted,
                                       [](const Key& key, const OpSchema& s) { return key < key_of(s); });
  if (after == std::begin(kSchemas)) return nullptr;
  const OpSchema& found = *(after - 1);
  return found.domain == std::get<0>(wanted) && found.op_type == op_type ? &found : nullptr;
}

std::int64_t newest_known_opset() {
  std::int64_t newest = 0;
  for (const OpSchema& schema : kSchemas) {
    if (schema.domain.empty()) newest = std::max(newest, schema.since);
  }
  return newest;
}

ElementType type_of_letter(char letter) {
  const auto* found = std::find_if(kLetters.begin(), kLetters.end(),
                                   [&](const auto& known) { return known.first == letter; });
  return found == kLetters.end() ? ElementType::kUndefined : found->second;
}

}  // namespace ounce::onnx
