#include "data/contract/observed_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ounce::data {
namespace {

constexpr std::uint64_t kEnoughSamples = 16;  // below, a range or a mean says little

// The means and deviations of three channels as they were before the contract's normalization, which is
// another one for each channel.
struct Colors {
  std::array<double, 3> mean{}, deviation{};
};

Colors colors_of(const InputContract::Observed& observed, const InputContract& contract) {
  Colors colors;
  for (std::size_t i = 0; i < 3; ++i) {
    const double scale = contract.deviation.size() == 3 ? contract.deviation[i] : 1;
    colors.mean[i] = observed.mean[i] * scale + (contract.mean.size() == 3 ? contract.mean[i] : 0);
    colors.deviation[i] = std::fabs(observed.deviation[i] * scale);
  }
  return colors;
}

// How far the channels' means are from their average. A brighter picture has the same.
std::array<double, 3> tint_of(const Colors& colors) {
  const double average = (colors.mean[0] + colors.mean[1] + colors.mean[2]) / 3;
  return {colors.mean[0] - average, colors.mean[1] - average, colors.mean[2] - average};
}

bool have_three_channels(const InputContract::Observed& recorded, const InputContract::Observed& seen) {
  const bool has_enough = recorded.samples >= kEnoughSamples && seen.samples >= kEnoughSamples;
  return has_enough && recorded.mean.size() == 3 && recorded.deviation.size() == 3 && seen.mean.size() == 3 &&
         seen.deviation.size() == 3;
}

// Do the means of the channels fit much better when read backwards?
bool is_reversed(const InputContract& contract, const InputContract::Observed& seen) {
  if (!have_three_channels(*contract.observed, seen)) return false;
  const Colors recorded = colors_of(*contract.observed, contract);
  const std::array<double, 3> wanted = tint_of(recorded), given = tint_of(colors_of(seen, contract));
  double straight = 0, backwards = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    straight += std::fabs(wanted[i] - given[i]);
    backwards += std::fabs(wanted[i] - given[2 - i]);
  }
  return std::fabs(wanted[0] - wanted[2]) > 0.1 * recorded.deviation[0] && backwards < straight / 4;
}

}  // namespace

void ObservedRange::add(std::span<const float> floats, const Dims& dims, const InputContract& contract) {
  if (floats.empty()) return;
  std::size_t channels = 1, stride = 1;
  const bool is_image = contract.kind == InputKind::kImage;
  // A tensor may be a picture that the app has prepared.
  const bool is_prepared =
      contract.kind == InputKind::kTensor && dims.size() == 3 && (dims[0] == 3 || dims[2] == 3);
  if (dims.size() == 3 && (is_image || is_prepared)) {
    const bool is_planar = is_image ? contract.layout == ImageLayout::kNchw : dims[0] == 3;
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

std::optional<std::string> contradiction(const InputContract& contract, const InputContract::Observed& seen) {
  if (!contract.observed) return std::nullopt;
  const InputContract::Observed& recorded = *contract.observed;
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
  if (is_reversed(contract, seen)) {
    return fmt::format(
        "the means of its channels ({:.3g}) fit those of the contract ({:.3g}) in the opposite order: "
        "red and blue are swapped",
        fmt::join(seen.mean, ", "), fmt::join(recorded.mean, ", "));
  }
  return std::nullopt;
}

std::optional<std::string> doubt(const InputContract& contract, const InputContract::Observed& seen) {
  constexpr double kNarrower = 1.8, kShifted = 1.5;  // times the recorded deviation
  if (!contract.observed || !have_three_channels(*contract.observed, seen)) return std::nullopt;
  const InputContract::Observed& recorded = *contract.observed;
  bool is_narrower = true, is_wider = true, is_shifted = true;
  for (std::size_t i = 0; i < 3; ++i) {
    is_narrower = is_narrower && seen.deviation[i] * kNarrower < recorded.deviation[i];
    is_wider = is_wider && seen.deviation[i] > recorded.deviation[i] * kNarrower;
    is_shifted = is_shifted && std::fabs(seen.mean[i] - recorded.mean[i]) > kShifted * recorded.deviation[i];
  }
  if (!is_narrower && !is_wider && !is_shifted) return std::nullopt;
  return fmt::format(
      "its channels have means of {:.3g} and standard deviations of {:.3g}; where the contract was made they "
      "had "
      "means of {:.3g} and standard deviations of {:.3g}: the pictures were normalized in another way, or "
      "are of "
      "another kind",
      fmt::join(seen.mean, ", "), fmt::join(seen.deviation, ", "), fmt::join(recorded.mean, ", "),
      fmt::join(recorded.deviation, ", "));
}

}  // namespace ounce::data
