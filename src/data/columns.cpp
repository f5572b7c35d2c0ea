#include "data/columns.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "data/convert.h"

namespace ounce::data {
namespace {

constexpr std::string_view kTo = "..";
constexpr std::uint64_t kMostColumns = 1'000'000;

// "f07": the word, the number, and how many digits it is written with at least.
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
    refuse_columns(range, "begins or ends with what is not there");
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
    if (value == nullptr) throw Error(ErrorCode::kBadInput, fmt::format("has no '{}'", column), where);
    if (value->type == ElementType::kString) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("'{}' is '{}' where a number is wanted", column,
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

}  // namespace ounce::data
