#include "data/fit.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <optional>

namespace ounce::data {
namespace {

using Shape = std::vector<ValueDescription::Dimension>;

bool matches(const Dims& dims, const Shape& shape) {
  return std::equal(
      dims.begin(), dims.end(), shape.begin(), shape.end(),
      [](std::int64_t dim, const auto& wanted) { return wanted.value < 0 || wanted.value == dim; });
}

// The sample's dimensions in the places of the input's that are not fixed to one entry.
std::optional<Dims> with_ones(const Dims& sample, const Shape& shape) {
  Dims left = sample, result;
  std::erase(left, 1);
  std::size_t used = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_one = shape[axis].value == 1 || (axis == 0 && shape[axis].value < 0);
    if (is_one) {
      result.push_back(1);
    } else if (used < left.size()) {
      result.push_back(left[used++]);
    } else {
      result.push_back(1);  // a free axis that the sample does not have
    }
  }
  if (used != left.size() || !matches(result, shape)) return std::nullopt;
  return result;
}

}  // namespace

Dims fit(const Dims& sample, const ValueDescription& input, bool is_whole, const std::string& where) {
  if (input.shape.empty()) return sample;  // a scalar, or a rank that nobody knows
  if (matches(sample, input.shape) && (is_whole || sample.size() == input.shape.size())) return sample;
  if (!is_whole) {
    Dims batched = sample;
    batched.insert(batched.begin(), 1);
    // A fixed batch is filled up by several samples.
    Shape shape = input.shape;
    shape[0].value = -1;
    if (matches(batched, shape)) return batched;
    if (const auto dims = with_ones(sample, shape)) return *dims;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("a sample is [{}] and the input '{}' is {}", fmt::join(sample, ","), input.name,
                          describe(input)),
              where);
}

}  // namespace ounce::data
