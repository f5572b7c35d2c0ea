#include "data/containers/json_row.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/json_text.h"
#include "base/text.h"

namespace ounce::data {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::kBadInput, what); }

bool holds_more_than_values(const json& value) {
  if (value.is_array()) return std::any_of(value.begin(), value.end(), holds_more_than_values);
  return value.is_object() || value.is_null();
}

// Turns a value, or nested arrays of values, into a tensor.
class TensorOfJson {
 public:
  TensorOfJson(const std::string& name, const json& value) : name_(name) {
    for (const json* inner = &value; inner->is_array(); inner = &inner->front()) {
      tensor_.dims.push_back(static_cast<std::int64_t>(inner->size()));
      if (inner->empty()) break;
    }
    collect(value, 0);
  }

  Tensor tensor() && {
    tensor_.type = common_type();
    for (const json* value : values_) append(*value);
    return std::move(tensor_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { fail(fmt::format("'{}' {}", name_, what)); }

  void collect(const json& value, std::size_t axis) {
    const bool is_leaf = !value.is_array();
    const bool fits =
        is_leaf ? axis == tensor_.dims.size()
                : axis < tensor_.dims.size() && value.size() == static_cast<std::size_t>(tensor_.dims[axis]);
    if (!fits) refuse("is ragged: the arrays in it differ in length");
    if (is_leaf) values_.push_back(&value);
    if (is_leaf) return;
    for (const json& inner : value) collect(inner, axis + 1);
  }

  static ElementType type_of(const json& value) {
    if (value.is_string()) return ElementType::kString;
    if (value.is_boolean()) return ElementType::kBool;
    return value.is_number_integer() ? ElementType::kInt64 : ElementType::kFloat;
  }

  // Integers among other numbers are numbers like them.
  ElementType common_type() const {
    const auto is_number = [](ElementType type) {
      return type == ElementType::kInt64 || type == ElementType::kFloat;
    };
    if (values_.empty()) return ElementType::kFloat;
    ElementType common = type_of(*values_.front());
    for (const json* value : values_) {
      const ElementType type = type_of(*value);
      if (type == common) continue;
      if (!is_number(type) || !is_number(common)) refuse("mixes numbers, strings or booleans");
      common = ElementType::kFloat;
    }
    return common;
  }

  void append(const json& value) {
    switch (tensor_.type) {
      case ElementType::kString: tensor_.strings.push_back(value.get<std::string>()); break;
      case ElementType::kBool: tensor_.bytes += value.get<bool>() ? '\1' : '\0'; break;
      case ElementType::kInt64: append_bytes(integer(value)); break;
      default: append_bytes(number(value));
    }
  }

  std::int64_t integer(const json& value) const {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
      refuse("holds an integer beyond int64");
    return value.get<std::int64_t>();
  }

  float number(const json& value) const {
    const auto wide = value.get<double>();
    if (std::abs(wide) > double{FLT_MAX}) refuse("holds a number beyond float32");
    return static_cast<float>(wide);
  }

  template <class T>
  void append_bytes(T value) {
    const std::size_t start = tensor_.bytes.size();
    tensor_.bytes.resize(start + sizeof value);
    std::memcpy(tensor_.bytes.data() + start, &value, sizeof value);
  }

  const std::string& name_;
  Tensor tensor_;
  std::vector<const json*> values_;
};

}  // namespace

std::vector<NamedTensor> read_json_row(std::string_view line) {
  const json row = parse_json(line);
  if (!row.is_object()) fail("is not a JSON object; every line is one, {\"file\": …}");
  std::vector<NamedTensor> members;
  for (const auto& [name, value] : row.items()) {
    if (has_control_characters(name)) fail("a name has control characters");
    if (value.is_null()) continue;
    if (holds_more_than_values(value)) {
      members.push_back({name, {ElementType::kString, {}, {}, {value.dump()}}});
    } else {
      members.push_back({name, TensorOfJson(name, value).tensor()});
    }
  }
  return members;
}

}  // namespace ounce::data
