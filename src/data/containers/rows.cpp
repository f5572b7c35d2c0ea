#include "data/containers/rows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/json_text.h"
#include "base/text.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

constexpr std::string_view kTo = "..";
constexpr std::uint64_t kMostColumns = 1'000'000;

// A column name such as "f07": the word, the number, and the minimum number of digits.
struct NumberedColumn {
  std::string_view word;
  std::uint64_t number = 0;
  std::size_t digits = 0;
};

std::optional<NumberedColumn> numbered_column(std::string_view name) {
  const std::size_t begin = name.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (begin == name.size()) return std::nullopt;
  NumberedColumn found{name.substr(0, begin), 0, name.size() - begin};
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), found.number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return found;
}

[[noreturn]] void refuse_columns(std::string_view range, const char* why) {
  throw Error(ErrorCode::kUsage, fmt::format("`fields`: '{}' {}", range, why));
}

void add_range(std::string_view range, const std::vector<Field>& fields, std::vector<std::string>& columns) {
  const std::size_t middle = range.find(kTo);
  const std::string_view first = range.substr(0, middle), last = range.substr(middle + kTo.size());
  const auto from = numbered_column(first), to = numbered_column(last);
  if (from && to && from->word == to->word) {
    if (from->number > to->number) refuse_columns(range, "goes backwards");
    if (to->number - from->number >= kMostColumns) refuse_columns(range, "is too long");
    const std::size_t digits = first.size() == last.size() ? from->digits : 1;
    for (std::uint64_t i = 0; i <= to->number - from->number; ++i)
      columns.push_back(fmt::format("{}{:0{}}", from->word, from->number + i, digits));
    return;
  }
  if (fields.empty()) {
    columns.emplace_back(range);
    return;
  }
  const auto place = [&](std::string_view name) {
    return std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
  };
  const auto begin = place(first), end = place(last);
  if (begin == fields.end() || end == fields.end())
    refuse_columns(range, "begins or ends with an unknown column");
  if (begin > end) refuse_columns(range, "goes backwards");
  for (auto field = begin; field <= end; ++field) columns.push_back(field->name);
}

}  // namespace

bool names_columns(const std::string& text) {
  return text.find(',') != std::string::npos || text.find(kTo) != std::string::npos;
}

std::vector<std::string> columns_of(const std::string& text, const std::vector<Field>& fields) {
  std::vector<std::string> columns;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (part.empty()) refuse_columns(text, "has an empty name");
    if (part.find(kTo) == std::string_view::npos) {
      columns.emplace_back(part);
    } else {
      add_range(part, fields, columns);
    }
  }
  return columns;
}

Tensor join_columns(const Sample& sample, const std::vector<std::string>& columns, const std::string& where) {
  std::vector<double> numbers;
  bool are_whole = true;
  for (const std::string& column : columns) {
    const Tensor* value = sample.find(column);
    if (value == nullptr) throw Error(ErrorCode::kBadInput, fmt::format("has no column '{}'", column), where);
    if (value->type == ElementType::kString) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("'{}' is '{}', not a number", column,
                              value->strings.empty() ? "" : value->strings.front()),
                  where);
    }
    are_whole = are_whole && value->type == ElementType::kInt64;
    const std::vector<double> own = to_doubles(*value, where);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  Tensor joined{are_whole ? ElementType::kInt64 : ElementType::kDouble,
                {static_cast<std::int64_t>(numbers.size())},
                std::string(numbers.size() * sizeof(double), '\0')};
  if (are_whole) {
    std::transform(numbers.begin(), numbers.end(), values_of<std::int64_t>(joined).begin(),
                   [](double number) { return static_cast<std::int64_t>(number); });
  } else {
    std::copy(numbers.begin(), numbers.end(), values_of<double>(joined).begin());
  }
  return joined;
}

namespace {

// Removes a quoted cell from the front of `rest` and returns its content.
std::string take_quoted(std::string_view& rest) {
  std::string cell;
  while (true) {
    rest.remove_prefix(1);
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos)
      throw Error(ErrorCode::kBadInput, "a quoted cell has no closing quote");
    cell += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) break;
    cell += '"';
  }
  if (!rest.empty() && !rest.starts_with(',')) {
    throw Error(ErrorCode::kBadInput,
                "unexpected text after a closing quote; double the quotes inside a cell");
  }
  return cell;
}

std::string take_plain(std::string_view& rest) {
  const std::string_view cell = rest.substr(0, rest.find(','));
  rest.remove_prefix(cell.size());
  return std::string(cell);
}

}  // namespace

std::optional<std::size_t> csv_row_end(std::string_view text, std::size_t begin) {
  bool is_quoted = false, is_cell_start = true;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted) {
      // A doubled quote is treated as a closing and an opening one.
      if (c == '"') is_quoted = false, is_cell_start = i + 1 < text.size() && text[i + 1] == '"';
      continue;
    }
    if (c == '\n') return i;
    is_quoted = is_cell_start && c == '"';
    is_cell_start = c == ',';
  }
  if (is_quoted) return std::nullopt;
  return text.size();
}

std::vector<std::string> split_csv_row(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> cells;
  while (true) {
    cells.push_back(row.starts_with('"') ? take_quoted(row) : take_plain(row));
    if (row.empty()) return cells;
    row.remove_prefix(1);  // skips the comma
  }
}

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::kBadInput, what); }

bool holds_more_than_values(const json& value) {
  if (value.is_array()) return std::any_of(value.begin(), value.end(), holds_more_than_values);
  return value.is_object() || value.is_null();
}

// Converts a value, or nested arrays of values, to a tensor.
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

  // Integers mixed with floats become floats.
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
      refuse("has an integer that exceeds int64");
    return value.get<std::int64_t>();
  }

  float number(const json& value) const {
    const auto wide = value.get<double>();
    if (std::abs(wide) > double{FLT_MAX}) refuse("has a number that exceeds float32");
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
  if (!row.is_object()) fail("is not a JSON object; every line must be one, such as {\"file\": \"a.jpg\"}");
  std::vector<NamedTensor> members;
  for (const auto& [name, value] : row.items()) {
    if (has_control_characters(name)) fail("a name has control characters");
    if (value.is_null()) continue;
    if (holds_more_than_values(value)) {
      members.push_back({name, {ElementType::kString, {}, {}, {json_text(value)}}});
    } else {
      members.push_back({name, TensorOfJson(name, value).tensor()});
    }
  }
  return members;
}

}  // namespace ounce::data
