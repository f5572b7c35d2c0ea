#include "app/shadow_compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/convert.h"

namespace ounce::app {
namespace {

// Rows of classes: the last axis of [N, classes], and of [N, T, classes] unless it is a box's four numbers.
std::size_t classes_of(const data::Dims& dims) {
  const bool has_rows = dims.size() == 2 || (dims.size() == 3 && dims.back() > 4);
  return has_rows && dims.back() > 1 ? static_cast<std::size_t>(dims.back()) : 0;
}

template <class T>
bool add_values(std::span<const T> primary, std::span<const T> candidate, std::size_t classes,
                ShadowOutput& sums) {
  for (std::size_t i = 0; i < primary.size(); ++i) {
    if (std::isfinite(primary[i]) && !std::isfinite(candidate[i])) return false;
  }
  for (std::size_t i = 0; i < primary.size(); ++i) {
    const double a = primary[i], b = candidate[i];
    if (!std::isfinite(a)) continue;
    sums.signal += a * a;
    sums.noise += (a - b) * (a - b);
    sums.largest = std::max(sums.largest, std::abs(a - b));
    ++sums.values;
  }
  if (classes == 0) return true;
  for (std::size_t row = 0; row + classes <= primary.size(); row += classes) {
    const auto best = [&](std::span<const T> values) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row);
      return std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first;
    };
    ++sums.answers;
    if (best(primary) != best(candidate)) ++sums.flips;
  }
  return true;
}

std::span<const float> floats_in(const data::TensorView& tensor) {
  return {reinterpret_cast<const float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}

}  // namespace

bool add_comparison(const data::TensorView& primary, const data::TensorView& candidate, ShadowOutput& sums) {
  const std::size_t classes = classes_of(primary.dims);
  if (primary.type == ElementType::kFloat)
    return add_values(floats_in(primary), floats_in(candidate), classes, sums);
  const std::vector<double> a = data::to_doubles(primary, "output"),
                            b = data::to_doubles(candidate, "output");
  return add_values(std::span(a), std::span(b), classes, sums);
}

bool is_finite(const data::TensorView& tensor) {
  if (!is_float_weight_type(tensor.type)) return true;
  const auto all_finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](auto value) { return std::isfinite(value); });
  };
  return tensor.type == ElementType::kFloat ? all_finite(floats_in(tensor))
                                                  : all_finite(data::to_doubles(tensor, "output"));
}

}  // namespace ounce::app
