#include "data/source/noise_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ounce::data {
namespace {

constexpr std::uint64_t kMostValues = std::uint64_t{1} << 20;  // of an input
constexpr std::uint64_t kLeastValues = 4096;                   // fewer show little
// Lengths of an axis that may be a signal. Rows of a table have fewer values than sounds.
constexpr std::int64_t kLeastLength = 8, kLeastLengthOfRow = 1000;
// Random numbers have a correlation of 0 ± 0.05 (three deviations of 4096 values), images and sound 0.5 or
// more.
constexpr double kLeastCorrelation = 0.1;

}  // namespace

NoiseCheck::NoiseCheck(const std::vector<ValueDescription>& inputs) {
  for (const ValueDescription& input : inputs) inputs_.push_back({input.name, 0, 0, 0, {}});
}

void NoiseCheck::add(const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < std::min(tensors.size(), inputs_.size()); ++i) add(tensors[i], inputs_[i]);
}

void NoiseCheck::add(const Tensor& tensor, Input& input) {
  const std::size_t rank = tensor.dims.size();
  if (tensor.type != ElementType::kFloat || rank < 2 || input.values >= kMostValues) return;
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) return;
  for (const float value : values) {
    input.sum += value;
    input.squares += static_cast<double>(value) * value;
  }
  input.values += values.size();
  input.axes.resize(std::max(input.axes.size(), rank - 1));
  std::size_t stride = 1;
  for (std::size_t axis = rank; axis-- > 1;) {
    const auto length = static_cast<std::size_t>(tensor.dims[axis]);
    if (tensor.dims[axis] >= (rank == 2 ? kLeastLengthOfRow : kLeastLength)) {
      Axis& sums = input.axes[axis - 1];
      for (std::size_t i = 0; i + stride < values.size(); ++i) {
        if (i / stride % length == length - 1) continue;  // the neighbor is in another row
        const double difference = static_cast<double>(values[i + stride]) - values[i];
        sums.squares += difference * difference;
        ++sums.count;
      }
    }
    stride *= length;
  }
}

std::vector<std::string> NoiseCheck::notes() const {
  std::vector<std::string> notes;
  for (const Input& input : inputs_) {
    const auto count = static_cast<double>(input.values);
    const double mean = input.sum / count, variance = input.squares / count - mean * mean;
    if (input.values < kLeastValues || !(variance > 0)) continue;
    const auto is_related = [&](const Axis& axis) {
      return axis.count != 0 && std::fabs(1 - axis.squares / static_cast<double>(axis.count) /
                                                  (2 * variance)) >= kLeastCorrelation;
    };
    const bool has_axis = std::any_of(input.axes.begin(), input.axes.end(),
                                      [](const Axis& axis) { return axis.count >= kLeastValues / 2; });
    if (!has_axis || std::any_of(input.axes.begin(), input.axes.end(), is_related)) continue;
    notes.push_back(fmt::format(
        "neighboring values of the input '{}' are unrelated in this data, as in random numbers; calibrate on "
        "real samples, preprocessed as the app does",
        input.name));
  }
  return notes;
}

}  // namespace ounce::data
