#include "app/shadow_compare.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "data/class_rows.h"
#include "data/convert.h"

namespace ounce::app {
namespace {

template <class T>
bool add_values(std::span<const T> primary, std::span<const T> candidate, ShadowOutput& sums) {
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
  return true;
}

std::span<const float> floats_in(const data::TensorView& tensor) {
  return {reinterpret_cast<const float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}

// Labels have no differences: as in verify(), one that is another one is noise as large as itself.
void add_labels(const data::TensorView& primary, const data::TensorView& candidate, ShadowOutput& sums) {
  const std::vector<double> a = data::to_doubles(primary, "output"),
                            b = data::to_doubles(candidate, "output");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_other = a[i] != b[i];
    sums.signal += 1;
    sums.noise += is_other ? 1 : 0;
    sums.largest = std::max(sums.largest, is_other ? 1.0 : 0.0);
    sums.flips += is_other ? 1 : 0;
  }
  sums.values += a.size();
  sums.answers += a.size();
}

// Rows with another best class.
void add_rows(const data::ValueDescription& output, const data::TensorView& primary,
              const data::TensorView& candidate, ShadowOutput& sums) {
  if (!is_float_weight_type(primary.type)) return;
  const data::ValueDescription described = data::described_as(primary, output);
  const std::optional<std::size_t> axis = data::class_axis(described);
  if (!axis || primary.dims.size() != described.shape.size()) return;
  std::vector<float> as_floats, others_as_floats;
  const data::ClassRows ours(data::floats_of(primary, as_floats, "output"), primary.dims, *axis),
      theirs(data::floats_of(candidate, others_as_floats, "output"), candidate.dims, *axis);
  for (std::size_t row = 0; row < ours.rows(); ++row) {
    ++sums.answers;
    if (ours.best(row) != theirs.best(row)) ++sums.flips;
  }
}

}  // namespace

bool add_comparison(const data::ValueDescription& output, const data::TensorView& primary,
                    const data::TensorView& candidate, ShadowOutput& sums) {
  if (data::is_label(primary.type, primary.dims.size())) {
    add_labels(primary, candidate, sums);
    return true;
  }
  const auto add = [&](const auto& a, const auto& b) { return add_values(std::span(a), std::span(b), sums); };
  const bool are_numbers = primary.type == ElementType::kFloat ? add(floats_in(primary), floats_in(candidate))
                                                               : add(data::to_doubles(primary, "output"),
                                                                     data::to_doubles(candidate, "output"));
  if (are_numbers) add_rows(output, primary, candidate, sums);
  return are_numbers;
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
