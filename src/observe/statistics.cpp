#include "observe/statistics.h"

#include <algorithm>
#include <cmath>

namespace ounce::observe {
namespace {

// The finite values among `values`: a view of them when all are, else a copy in `kept`.
std::span<const float> finite_values(std::span<const float> values, std::vector<float>& kept) {
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (std::all_of(values.begin(), values.end(), is_finite)) return values;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept), is_finite);
  return kept;
}

}  // namespace

void Statistics::add(std::span<const float> values) {
  std::vector<float> kept;
  const std::span<const float> finite = finite_values(values, kept);
  not_finite_ += values.size() - finite.size();
  if (finite.empty()) return;
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  minimum_ = samples_ == 0 ? *low : std::min(minimum_, *low);
  maximum_ = samples_ == 0 ? *high : std::max(maximum_, *high);
  minima_.add(*low);
  maxima_.add(*high);
  histogram_.add(finite);
  count_ += finite.size();
  ++samples_;
}

void Statistics::add(std::span<const float> values, std::size_t channels, std::size_t stride) {
  add_channels(values, channels, stride);
  add(values);
}

void Statistics::add_channels(std::span<const float> values, std::size_t channels, std::size_t stride) {
  const bool is_first = samples_ == 0 && channels_.empty() && !has_lost_channels_;
  const bool fits = channels != 0 && stride != 0 && values.size() % (channels * stride) == 0;
  if (has_lost_channels_ || !fits || (!is_first && channels_.size() != channels)) {
    channels_.clear();
    has_lost_channels_ = true;
    return;
  }
  if (is_first) channels_.assign(channels, {HUGE_VALF, -HUGE_VALF});
  for (std::size_t start = 0, run = 0; start < values.size(); start += stride, ++run) {
    ChannelRange& range = channels_[run % channels];
    for (std::size_t i = start; i < start + stride; ++i) {
      if (!std::isfinite(values[i])) continue;
      range.minimum = std::min(range.minimum, values[i]);
      range.maximum = std::max(range.maximum, values[i]);
    }
  }
}

void Statistics::add(const Statistics& other) {
  not_finite_ += other.not_finite_;
  if (other.samples_ == 0) return;
  const bool is_empty = samples_ == 0;
  minimum_ = is_empty ? other.minimum_ : std::min(minimum_, other.minimum_);
  maximum_ = is_empty ? other.maximum_ : std::max(maximum_, other.maximum_);
  minima_.add(other.minima_);
  maxima_.add(other.maxima_);
  histogram_.add(other.histogram_);
  if (is_empty && !has_lost_channels_) {
    channels_ = other.channels_;
    has_lost_channels_ = other.has_lost_channels_;
  } else if (channels_.size() != other.channels_.size() || other.has_lost_channels_) {
    has_lost_channels_ = true;
    channels_.clear();
  } else {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      channels_[i].minimum = std::min(channels_[i].minimum, other.channels_[i].minimum);
      channels_[i].maximum = std::max(channels_[i].maximum, other.channels_[i].maximum);
    }
  }
  samples_ += other.samples_;
  count_ += other.count_;
}

}  // namespace ounce::observe
