#include "data/contract/observed_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ounce::data {
namespace {

constexpr std::uint64_t kEnoughSamples = 16;  // below, a range or a mean says little

double distance(const std::vector<double>& a, const std::vector<double>& b,
                const std::vector<double>& deviation) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double scale = i < deviation.size() && deviation[i] > 0 ? deviation[i] : 1;
    total += std::fabs(a[i] - b[i]) / scale;
  }
  return total;
}

// Do the means of the channels fit much better when read backwards?
bool is_reversed(const InputContract::Observed& recorded, const InputContract::Observed& seen) {
  if (recorded.mean.size() != 3 || seen.mean.size() != 3) return false;
  if (recorded.samples < kEnoughSamples || seen.samples < kEnoughSamples) return false;
  const std::vector<double> reversed(seen.mean.rbegin(), seen.mean.rend());
  const double straight = distance(recorded.mean, seen.mean, recorded.deviation);
  const double backwards = distance(recorded.mean, reversed, recorded.deviation);
  const double apart =
      std::fabs(recorded.mean[0] - recorded.mean[2]) /
      (recorded.deviation.size() == 3 && recorded.deviation[0] > 0 ? recorded.deviation[0] : 1);
  return apart > 0.1 && backwards < straight / 4;
}

}  // namespace

void ObservedRange::add(std::span<const float> floats, const Dims& dims, const InputContract& contract) {
  if (floats.empty()) return;
  std::size_t channels = 1, stride = 1;
  if (contract.kind == InputKind::kImage && dims.size() == 3) {
    const bool is_planar = contract.layout == ImageLayout::kNchw;
    channels = static_cast<std::size_t>(is_planar ? dims[0] : dims[2]);
    stride = is_planar ? floats.size() / channels : 1;
  }
  sums_.resize(channels);
  squares_.resize(channels);
  const auto [low, high] = std::minmax_element(floats.begin(), floats.end());
  minimum_ = samples_ == 0 ? *low : std::min<double>(minimum_, *low);
  maximum_ = samples_ == 0 ? *high : std::max<double>(maximum_, *high);
  for (std::size_t start = 0, run = 0; start < floats.size(); start += stride, ++run) {
    double sum = 0, square = 0;
    for (std::size_t i = start; i < std::min(start + stride, floats.size()); ++i) {
      sum += floats[i];
      square += static_cast<double>(floats[i]) * floats[i];
    }
    sums_[run % channels] += sum;
    squares_[run % channels] += square;
  }
  count_ += static_cast<double>(floats.size()) / static_cast<double>(channels);
  ++samples_;
}

InputContract::Observed ObservedRange::result() const {
  InputContract::Observed observed;
  observed.samples = samples_;
  observed.minimum = minimum_;
  observed.maximum = maximum_;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double mean = sums_[i] / count_;
    observed.mean.push_back(mean);
    observed.deviation.push_back(std::sqrt(std::max(0.0, squares_[i] / count_ - mean * mean)));
  }
  return observed;
}

std::optional<std::string> contradiction(const InputContract::Observed& recorded,
                                         const InputContract::Observed& seen) {
  if (recorded.samples == 0 || seen.samples == 0) return std::nullopt;
  const double width = recorded.maximum - recorded.minimum;
  const bool is_beyond =
      seen.minimum < recorded.minimum - 0.5 * width || seen.maximum > recorded.maximum + 0.5 * width;
  const bool has_enough = seen.samples >= kEnoughSamples && recorded.samples >= kEnoughSamples;
  // What swings about zero, as sound does, may be quiet, even silent, but not below a step of 16 bits.
  const bool swings = recorded.minimum < 0 && recorded.maximum > 0 && seen.minimum <= 0 && seen.maximum >= 0;
  const bool is_silent = swings && seen.minimum == seen.maximum;
  const bool is_tiny =
      has_enough && !is_silent && seen.maximum - seen.minimum < width / (swings ? 16384 : 32);
  const bool lacks_a_sign = has_enough && !is_silent && recorded.minimum < -0.25 * width && seen.minimum >= 0;
  if (is_beyond || is_tiny || lacks_a_sign) {
    return fmt::format(
        "its values go from {:.4g} to {:.4g}, and where the contract was made they went from {:.4g} to "
        "{:.4g}",
        seen.minimum, seen.maximum, recorded.minimum, recorded.maximum);
  }
  if (is_reversed(recorded, seen)) {
    return fmt::format(
        "the means of its channels ({:.3g}) fit those of the contract ({:.3g}) in the opposite order: "
        "red and blue are swapped",
        fmt::join(seen.mean, ", "), fmt::join(recorded.mean, ", "));
  }
  return std::nullopt;
}

}  // namespace ounce::data
