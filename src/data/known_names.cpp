#include "data/known_names.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <string>

namespace ounce::data {
namespace {

void require(bool is_known, const std::string& name, const char* what,
             const std::vector<std::string>& known, const char* kind = "input") {
  if (is_known) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("{}: the model has no {} '{}'{}", what, kind, name,
                          known.empty() ? "" : fmt::format(" (it has {})", fmt::join(known, ", "))));
}

}  // namespace

void require_known_names(const std::vector<ValueDescription>& inputs, const DataOptions& options) {
  const auto contains = [](const std::vector<std::string>& known, const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  std::vector<std::string> names, dimensions;
  for (const ValueDescription& input : inputs) {
    names.push_back(input.name);
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      if (input.shape[axis].value >= 0) continue;
      if (!input.shape[axis].name.empty() && !contains(dimensions, input.shape[axis].name))
        dimensions.push_back(input.shape[axis].name);
      dimensions.push_back(fmt::format("{}:{}", input.name, axis));
    }
  }
  for (const auto& [name, field] : options.fields) require(contains(names, name), name, "`fields`", names);
  for (const auto& [name, value] : options.constants)
    require(contains(names, name), name, "`constants`", names);
  for (const auto& [name, output] : options.carry) require(contains(names, name), name, "`carry`", names);
  for (const auto& [name, length] : options.shape)
    require(contains(dimensions, name), name, "`shape`", dimensions, "dynamic axis");
  if (!options.contract) return;
  for (const auto& [name, contract] : options.contract->inputs)
    require(name.empty() || contains(names, name), name, "the contract", names);
}

}  // namespace ounce::data
