#include "observe/unfold.h"

#include <ounce/error.h>

#include <algorithm>

#include "base/checked.h"

namespace ounce::observe {
namespace {

// Larger attributes are nonsense; below it nothing that is computed from them overflows.
constexpr std::int64_t kLargestAttribute = std::int64_t{1} << 30;

[[noreturn]] void refuse(const char* what) { throw Error(ErrorCode::kBadInput, what); }

std::vector<std::int64_t> checked_attribute(std::vector<std::int64_t> values, std::size_t count,
                                            std::int64_t least) {
  if (values.empty()) values.assign(count, least);
  const bool fits = values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) {
                      return v >= least && v <= kLargestAttribute;
                    });
  if (!fits) refuse("a convolution's attributes do not fit each other: check the model");
  return values;
}

std::uint64_t product(std::span<const std::int64_t> sizes) {
  std::uint64_t all = 1;
  for (const std::int64_t size : sizes) {
    const auto next = size < 0 ? std::nullopt : checked_multiply(all, static_cast<std::uint64_t>(size));
    if (!next) refuse("a shape is negative or too large: check the model");
    all = *next;
  }
  return all;
}

}  // namespace

Unfolding Unfolding::of_matrix(std::int64_t k) {
  Unfolding unfolding;
  unfolding.channels_ = static_cast<std::size_t>(checked_attribute({k}, 1, 1)[0]);
  return unfolding;
}

Unfolding Unfolding::of_convolution(const Convolution& convolution) {
  const std::size_t dimensions = convolution.kernel.size();
  if (dimensions == 0 || dimensions > kMaxDimensions)
    throw Error(ErrorCode::kUnsupported, "only convolutions of 1, 2 or 3 dimensions can be unfolded");
  const std::int64_t channels = convolution.channels, groups = convolution.groups;
  checked_attribute({channels, groups}, 2, 1);
  if (channels % groups != 0) refuse("a convolution's groups do not divide its channels: check the model");
  Unfolding unfolding;
  unfolding.groups_ = static_cast<std::size_t>(groups);
  unfolding.channels_ = static_cast<std::size_t>(channels / groups);
  unfolding.kernel_ = checked_attribute(convolution.kernel, dimensions, 1);
  unfolding.strides_ = checked_attribute(convolution.strides, dimensions, 1);
  unfolding.dilations_ = checked_attribute(convolution.dilations, dimensions, 1);
  unfolding.pads_ = checked_attribute(convolution.pads, 2 * dimensions, 0);
  unfolding.taps_ = product(unfolding.kernel_);
  if (!checked_multiply(unfolding.channels_, unfolding.taps_)) refuse("a convolution's kernel is too large");
  return unfolding;
}

Unfolded::Unfolded(const Unfolding& unfolding, std::span<const float> values,
                   std::span<const std::int64_t> shape)
    : unfolding_(unfolding), values_(values) {
  if (product(shape) != values.size()) refuse("an activation has another size than its shape says");
  if (!unfolding.kernel_.empty()) {
    read_convolution(shape);
  } else {
    if (shape.empty() || static_cast<std::uint64_t>(shape.back()) != unfolding.k())
      refuse("an activation's last dimension is not that of the weights: check the model");
    rows_ = values.size() / unfolding.k();
  }
}

void Unfolded::read_convolution(std::span<const std::int64_t> shape) {
  const std::size_t dimensions = unfolding_.kernel_.size();
  const std::size_t channels = unfolding_.groups_ * unfolding_.channels_;
  if (shape.size() != dimensions + 2 || static_cast<std::uint64_t>(shape[1]) != channels)
    refuse("an activation's shape does not fit its convolution: check the model");
  input_.assign(shape.begin() + 2, shape.end());
  output_.resize(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t covered = unfolding_.dilations_[d] * (unfolding_.kernel_[d] - 1) + 1;
    const std::int64_t sides = unfolding_.pads_[d] + unfolding_.pads_[dimensions + d];
    const std::int64_t room = std::min(input_[d], kLargestAttribute) + sides - covered;
    output_[d] = values_.empty() || room < 0 ? 0 : room / unfolding_.strides_[d] + 1;
  }
  plane_ = product(input_);
  positions_ = product(output_);
  const auto rows = checked_multiply(static_cast<std::uint64_t>(shape[0]), positions_);
  if (!rows) refuse("a convolution's output is too large: check the model");
  rows_ = *rows;
  taps_.resize(unfolding_.taps_);
}

void Unfolded::find_taps(std::uint64_t position) {
  const std::size_t dimensions = unfolding_.kernel_.size();
  std::fill(taps_.begin(), taps_.end(), 0);
  std::int64_t inner_taps = 1, inner_values = 1;
  for (std::size_t d = dimensions; d-- > 0;) {
    const auto size = static_cast<std::uint64_t>(output_[d]);
    const std::int64_t start =
        static_cast<std::int64_t>(position % size) * unfolding_.strides_[d] - unfolding_.pads_[d];
    position /= size;
    for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
      const std::int64_t step = static_cast<std::int64_t>(tap) / inner_taps % unfolding_.kernel_[d];
      const std::int64_t at = start + step * unfolding_.dilations_[d];
      const bool is_outside = taps_[tap] < 0 || at < 0 || at >= input_[d];
      taps_[tap] = is_outside ? -1 : taps_[tap] + at * inner_values;
    }
    inner_taps *= unfolding_.kernel_[d];
    inner_values *= input_[d];
  }
}

void Unfolded::copy_row(std::uint64_t row, float* out, std::size_t stride) {
  const std::size_t k = unfolding_.k();
  if (unfolding_.kernel_.empty()) {
    std::copy_n(values_.data() + row * k, k, out);
    return;
  }
  find_taps(row % positions_);
  const std::size_t channels = unfolding_.groups_ * unfolding_.channels_;
  const float* plane = values_.data() + row / positions_ * channels * plane_;
  for (std::size_t group = 0; group < unfolding_.groups_; ++group) {
    float* to = out + group * stride;
    for (std::size_t channel = 0; channel < unfolding_.channels_; ++channel, plane += plane_) {
      for (const std::int64_t tap : taps_) *to++ = tap < 0 ? 0 : plane[tap];
    }
  }
}

}  // namespace ounce::observe
