#include "app/probe_inputs.h"

#include <algorithm>

#include "data/convert.h"

namespace ounce::app {
namespace {

constexpr std::uint64_t kMostProbed = std::uint64_t{1} << 26;  // values; more are an error of the model's

// Small numbers of both signs, no two neighbours alike, for floats; 0 and 1 for whatever may be an index.
data::Tensor probe(const data::ValueDescription& input) {
  data::Tensor made;
  for (const auto& dimension : input.shape) made.dims.push_back(dimension.value < 0 ? 1 : dimension.value);
  const std::uint64_t count = std::min(data::element_count(made.dims, input.name), kMostProbed);
  made.type = ElementType::kFloat;
  made.bytes.resize(count * sizeof(float));
  const bool is_float = is_float_weight_type(input.element);
  std::size_t i = 0;
  for (float& value : data::values_of<float>(made)) {
    value =
        is_float ? static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 64 : static_cast<float>(i % 2);
    ++i;
  }
  return data::convert(std::move(made), input.element, input.name);
}

}  // namespace

std::vector<data::Tensor> probe_inputs(const std::vector<data::ValueDescription>& inputs) {
  std::vector<data::Tensor> made;
  for (const data::ValueDescription& input : inputs) {
    if (!input.is_tensor() || input.element == ElementType::kString) return {};
    made.push_back(probe(input));
  }
  return made;
}

}  // namespace ounce::app
