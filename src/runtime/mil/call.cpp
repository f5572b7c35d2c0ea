#include "runtime/mil/call.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <unordered_map>

namespace ounce::mil {

void Call::fail(const std::string& why) const {
  throw Error(ErrorCode::kBadInput, fmt::format("operation {} '{}': {}", type, name, why));
}

std::span<const ArrayPtr> Call::list(std::string_view input) const {
  const auto found = inputs.find(input);
  if (found == inputs.end() || found->second.empty()) fail(fmt::format("input '{}' is missing", input));
  return found->second;
}

const Array* Call::find(std::string_view input) const {
  const auto found = inputs.find(input);
  if (found == inputs.end() || found->second.empty()) return nullptr;
  return found->second.front().get();
}

const Array& Call::array(std::string_view input) const { return *list(input).front(); }

const Array& Call::floats(std::string_view input) const {
  const Array& value = array(input);
  if (!value.is_float()) fail(fmt::format("input '{}' is {}, not a float", input, name_of(value.type)));
  return value;
}

std::optional<std::vector<std::int64_t>> Call::find_integers(std::string_view input) const {
  const Array* value = find(input);
  if (value == nullptr) return std::nullopt;
  if (value->is_float() || value->is_string())
    fail(fmt::format("input '{}' is {}, not an integer", input, name_of(value->type)));
  return std::vector<std::int64_t>(value->i.begin(), value->i.end());
}

std::vector<std::int64_t> Call::integers(std::string_view input) const {
  array(input);
  return *find_integers(input);
}

std::int64_t Call::integer(std::string_view input, std::optional<std::int64_t> otherwise) const {
  if (otherwise && find(input) == nullptr) return *otherwise;
  const std::vector<std::int64_t> values = integers(input);
  if (values.size() != 1) fail(fmt::format("input '{}' has {} values instead of one", input, values.size()));
  return values.front();
}

float Call::number(std::string_view input, std::optional<float> otherwise) const {
  if (otherwise && find(input) == nullptr) return *otherwise;
  const Array& value = array(input);
  if (value.is_string() || value.size() != 1) fail(fmt::format("input '{}' is not a single number", input));
  return static_cast<float>(value.number(0));
}

bool Call::flag(std::string_view input, bool otherwise) const {
  return integer(input, otherwise ? 1 : 0) != 0;
}

std::string Call::text(std::string_view input, std::string_view otherwise) const {
  const Array* value = find(input);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) fail(fmt::format("input '{}' is {}, not a string", input, name_of(value->type)));
  return value->text;
}

std::size_t Call::axis(std::int64_t given, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(rank);
  if (given < -count || given >= count)
    fail(fmt::format("axis {} is out of range for an array of {} dimensions", given, rank));
  return static_cast<std::size_t>(given < 0 ? given + count : given);
}

std::size_t Call::axis_of(std::string_view input, std::size_t rank,
                          std::optional<std::int64_t> otherwise) const {
  return axis(integer(input, otherwise), rank);
}

std::vector<std::size_t> Call::axes_of(std::string_view input, std::size_t rank) const {
  std::vector<std::size_t> axes;
  if (const auto given = find_integers(input)) {
    for (const std::int64_t value : *given) axes.push_back(axis(value, rank));
    std::sort(axes.begin(), axes.end());
    require(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), "an axis is given twice");
  } else {
    for (std::size_t at = 0; at < rank; ++at) axes.push_back(at);
  }
  return axes;
}

Function find_operation(std::string_view name) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<std::string_view, Function>();
    for (const auto& group : {elementwise_operations(), shape_operations(), index_operations(),
                              reduce_operations(), norm_operations(), conv_operations(), product_operations(),
                              resize_operations(), recurrent_operations(), weight_operations()})
      for (const Operation& row : group) all->emplace(row.name, row.function);
    return all;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace ounce::mil
