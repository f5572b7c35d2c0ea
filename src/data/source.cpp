#include "data/source.h"

#include <algorithm>

namespace ounce::data {

const Tensor* Sample::find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const NamedTensor& candidate) { return candidate.name == field; });
  return found == fields.end() ? nullptr : &found->tensor;
}

std::vector<std::string> Source::names_there() const {
  std::vector<std::string> names;
  for (const Field& field : fields()) names.push_back(field.name);
  return names;
}

}  // namespace ounce::data
