#include "calibration/statistics.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>

namespace ounce::calibration {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::uint32_t kExponent = 0x7f800000;  // all ones in NaN and infinite values

struct Extent {
  float low = HUGE_VALF, high = -HUGE_VALF;
  bool is_finite = true;  // all of them
};

// In lanes, which a compiler turns into vectors.
Extent extent_of(std::span<const float> values) {
  std::array<float, kLanes> low, high;
  std::array<std::uint32_t, kLanes> strange{};
  low.fill(HUGE_VALF);
  high.fill(-HUGE_VALF);
  const auto take = [&](std::size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
    strange[lane] |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  };
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(lane, values[i + lane]);
  }
  for (; i < values.size(); ++i) take(0, values[i]);
  Extent extent;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    extent.low = std::min(extent.low, low[lane]);
    extent.high = std::max(extent.high, high[lane]);
    extent.is_finite = extent.is_finite && strange[lane] == 0;
  }
  return extent;
}

double sum_of(std::span<const float> values) {
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
  }
  for (; i < values.size(); ++i) sums[0] += values[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// A channel's run of values: gives their sum, without those that are not finite.
double take_run(std::span<const float> values, Channel& channel) {
  if (values.size() >= 2 * kLanes) {
    if (const Extent extent = extent_of(values); extent.is_finite) {
      channel.minimum = std::min(channel.minimum, extent.low);
      channel.maximum = std::max(channel.maximum, extent.high);
      return sum_of(values);
    }
  }
  double sum = 0;
  for (const float value : values) {
    if ((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent) continue;
    channel.minimum = value < channel.minimum ? value : channel.minimum;
    channel.maximum = value > channel.maximum ? value : channel.maximum;
    sum += value;
  }
  return sum;
}

}  // namespace

void Statistics::add(std::span<const float> values) {
  const Extent extent = extent_of(values);
  if (!extent.is_finite) {
    std::vector<float> finite;
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
                 [](float value) { return std::isfinite(value); });
    not_finite_ += values.size() - finite.size();
    add(finite);
    return;
  }
  if (values.empty()) return;
  minimum_ = samples_ == 0 ? extent.low : std::min(minimum_, extent.low);
  maximum_ = samples_ == 0 ? extent.high : std::max(maximum_, extent.high);
  minima_.add(extent.low);
  maxima_.add(extent.high);
  histogram_.add(values);
  count_ += values.size();
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
  if (is_first) channels_.assign(channels, {HUGE_VALF, -HUGE_VALF, {}});
  // A sample's own sums are taken in one order; what is added up over samples is exact.
  std::vector<double> sums(channels, 0);
  for (std::size_t start = 0; start < values.size(); start += channels * stride) {
    for (std::size_t channel = 0; channel < channels; ++channel)
      sums[channel] += take_run(values.subspan(start + channel * stride, stride), channels_[channel]);
  }
  for (std::size_t channel = 0; channel < channels; ++channel) channels_[channel].sum.add(sums[channel]);
}

double Statistics::mean_of_channel(std::size_t channel) const {
  if (channel >= channels_.size() || count_ == 0) return 0;
  return channels_[channel].sum.value() * static_cast<double>(channels_.size()) / static_cast<double>(count_);
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
      channels_[i].sum.add(other.channels_[i].sum);
    }
  }
  samples_ += other.samples_;
  count_ += other.count_;
}

namespace {

constexpr double kLeastShare = 1e-2;  // of the mean
constexpr float kLargestSquared = 1e18F;

}  // namespace

void Energy::add(std::span<const float> values) {
  const std::size_t columns = sums_.size();
  if (columns == 0 || values.size() % columns != 0)
    throw Error(ErrorCode::kInternal, "the rows of a product's input do not fit its weight");
  for (std::size_t at = 0; at < values.size(); at += columns) {
    const std::span<const float> row = values.subspan(at, columns);
    if (!std::all_of(row.begin(), row.end(), [](float x) { return std::abs(x) <= kLargestSquared; }))
      continue;
    for (std::size_t c = 0; c < columns; ++c)
      sums_[c] += static_cast<double>(row[c]) * static_cast<double>(row[c]);
    ++rows_;
  }
}

std::vector<float> Energy::means() const {
  const double mean = std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(sums_.size());
  if (!(mean > 0) || !std::isfinite(mean)) return {};
  std::vector<float> means;
  for (const double sum : sums_) means.push_back(static_cast<float>(std::max(sum / mean, kLeastShare)));
  return means;
}

namespace {

constexpr int kLimbBits = 32;
constexpr std::int64_t kLimb = std::int64_t{1} << kLimbBits;
constexpr int kUnitExponent = -149;  // the smallest float is 2^-149

}  // namespace

void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    const std::int64_t over = limbs_[i] >= 0 ? limbs_[i] / kLimb : -((-limbs_[i] + kLimb - 1) / kLimb);
    limbs_[i] -= over * kLimb;
    limbs_[i + 1] += over;
  }
}

void ExactSum::add(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>((bits >> 23) & 0xff);
  const std::int64_t mantissa = static_cast<std::int64_t>(bits & 0x7fffff) | (exponent == 0 ? 0 : 0x800000);
  const int shift = exponent == 0 ? 0 : exponent - 1;  // in units of 2^-149
  const auto limb = static_cast<std::size_t>(shift / kLimbBits);
  const std::int64_t sign = (bits >> 31) != 0 ? -1 : 1;
  const std::uint64_t wide = static_cast<std::uint64_t>(mantissa) << (shift % kLimbBits);
  limbs_[limb] += sign * static_cast<std::int64_t>(wide & (kLimb - 1));
  limbs_[limb + 1] += sign * static_cast<std::int64_t>(wide >> kLimbBits);
  carry();
}

void ExactSum::add(const ExactSum& other) {
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += other.limbs_[i];
  carry();
}

double ExactSum::value() const {
  double total = 0;
  for (std::size_t i = kLimbs; i-- > 0;)
    total += std::ldexp(static_cast<double>(limbs_[i]), static_cast<int>(i) * kLimbBits + kUnitExponent);
  return total;
}

std::string ExactSum::text() const {
  std::string text;
  for (const std::int64_t limb : limbs_) text += fmt::format("{}{:x}", text.empty() ? "" : " ", limb);
  return text;
}

ExactSum ExactSum::parse(std::string_view text) {
  ExactSum sum;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < kLimbs; ++i) {
    if (i != 0 && (at == end || *at++ != ' ')) throw Error(ErrorCode::kBadInput, "a sum is broken");
    const auto [next, failure] = std::from_chars(at, end, sum.limbs_[i], 16);
    const bool is_in_range = i + 1 == kLimbs || (sum.limbs_[i] >= 0 && sum.limbs_[i] < kLimb);
    if (failure != std::errc() || !is_in_range) throw Error(ErrorCode::kBadInput, "a sum is broken");
    at = next;
  }
  if (at != end) throw Error(ErrorCode::kBadInput, "a sum is broken");
  return sum;
}

namespace {

constexpr int kUnitBits = 60;
constexpr double kUnit = 0x1p-60, kLargest = 0x1p60;

}  // namespace

void FixedSum::add(double value) {
  static_assert(kUnit * kLargest == 1);
  units_ += static_cast<Units>(std::nearbyint(std::ldexp(std::clamp(value, -kLargest, kLargest), kUnitBits)));
}

double FixedSum::value() const { return std::ldexp(static_cast<double>(units_), -kUnitBits); }

std::string FixedSum::text() const {
  const auto high = static_cast<std::int64_t>(units_ >> 64);
  const auto low = static_cast<std::uint64_t>(units_);
  return fmt::format("{:x} {:x}", high, low);
}

FixedSum FixedSum::parse(std::string_view text) {
  std::int64_t high = 0;
  std::uint64_t low = 0;
  const char* const end = text.data() + text.size();
  const auto [space, failure] = std::from_chars(text.data(), end, high, 16);
  const bool has_both = failure == std::errc() && space != end && *space == ' ';
  const auto [last, second_failure] = std::from_chars(has_both ? space + 1 : end, end, low, 16);
  if (!has_both || second_failure != std::errc() || last != end)
    throw Error(ErrorCode::kBadInput, "a sum is broken");
  FixedSum sum;
  sum.units_ = static_cast<Units>(high) * (static_cast<Units>(1) << 64) + static_cast<Units>(low);
  return sum;
}

}  // namespace ounce::calibration
