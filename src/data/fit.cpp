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

// What to do when only the place of the channels differs: [32,32,3] for an input [N,3,32,32].
std::string hint_of_layout(const Dims& sample, const Shape& shape, bool is_image) {
  if (sample.size() != 3 || shape.size() != 4) return {};
  const Shape inner(shape.begin() + 1, shape.end());
  const Dims planar = {sample[2], sample[0], sample[1]}, interleaved = {sample[1], sample[2], sample[0]};
  const bool is_planar = matches(planar, inner);
  if (!is_planar && !matches(interleaved, inner)) return {};
  const char* const what = is_planar ? "the channels are last in the data and first in the model"
                                     : "the channels are first in the data and last in the model";
  if (is_planar && is_image)
    return fmt::format(": {}; give `layout=nchw`, which is the layout of the model's input", what);
  return fmt::format(": {}; transpose the data to [{}]", what,
                     fmt::join(is_planar ? planar : interleaved, ","));
}

}  // namespace

Dims fit(const Dims& sample, const ValueDescription& input, bool is_whole, const std::string& where,
         bool is_image) {
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
              fmt::format("a sample is [{}] and the input '{}' is {}{}", fmt::join(sample, ","), input.name,
                          describe(input), hint_of_layout(sample, input.shape, is_image)),
              where);
}

}  // namespace ounce::data
