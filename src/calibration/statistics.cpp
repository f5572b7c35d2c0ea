#include "calibration/statistics.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>

#include "kernels/range.h"

namespace ounce::calibration {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::uint32_t kExponent = 0x7f800000;  // all ones in NaN and infinite values

double sum_of(std::span<const float> values) {
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
  }
  for (; i < values.size(); ++i) sums[0] += values[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// The order of the sum depends on the length alone.
double sum_of_run(std::span<const float> values) {
  return values.size() >= 2 * kLanes ? sum_of(values) : std::accumulate(values.begin(), values.end(), 0.0);
}

// Updates a channel's limits with the finite values of a run. Returns their sum.
double take_run(std::span<const float> values, Channel& channel) {
  const auto is_strange = [](float value) {
    return (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent;
  };
  double sum = 0;
  for (const float value : values) {
    if (is_strange(value)) continue;
    channel.minimum = value < channel.minimum ? value : channel.minimum;
    channel.maximum = value > channel.maximum ? value : channel.maximum;
    sum += value;
  }
  const bool has_strange = std::any_of(values.begin(), values.end(), is_strange);
  return has_strange || values.size() < 2 * kLanes ? sum : sum_of(values);
}

// The ranges of the channels, or of all values if there are 0 channels.
std::vector<kernels::Range> ranges_of(std::span<const float> values, std::size_t channels,
                                      std::size_t stride) {
  std::vector<kernels::Range> ranges(std::max<std::size_t>(1, channels));
  const std::byte* const bytes = std::as_bytes(values).data();
  if (channels == 0) {
    kernels::range_of_run(bytes, values.size(), ranges[0]);
    return ranges;
  }
  if (stride == 1) {
    kernels::range_of_columns(bytes, values.size() / channels, channels, channels, ranges.data());
    return ranges;
  }
  for (std::size_t start = 0; start < values.size(); start += channels * stride)
    kernels::range_of_runs(bytes + start * sizeof(float), channels, stride, ranges.data());
  return ranges;
}

}  // namespace

void Statistics::add(std::span<const float> values) { add_channels(values, 0, 0); }

void Statistics::add(std::span<const float> values, std::size_t channels, std::size_t stride) {
  const bool is_first = samples_ == 0 && channels_.empty() && !has_lost_channels_;
  const bool fits = channels != 0 && stride != 0 && values.size() % (channels * stride) == 0;
  if (has_lost_channels_ || !fits || (!is_first && channels_.size() != channels)) {
    channels_.clear();
    has_lost_channels_ = true;
    return add(values);
  }
  if (is_first) channels_.assign(channels, {HUGE_VALF, -HUGE_VALF, {}});
  add_channels(values, channels, stride);
}

// Without channels if there are 0. The ranges of the channels give that of the sample, so that values are
// read once for both.
void Statistics::add_channels(std::span<const float> values, std::size_t channels, std::size_t stride) {
  const std::vector<kernels::Range> ranges = ranges_of(values, channels, stride);
  kernels::Range all;
  for (const kernels::Range& range : ranges) all.merge(range);
  // Sums within a sample have a fixed order; sums over samples are exact.
  std::vector<double> sums(channels, 0);
  for (std::size_t start = 0; channels != 0 && start < values.size(); start += channels * stride) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const auto run = values.subspan(start + channel * stride, stride);
      sums[channel] += all.finite() ? sum_of_run(run) : take_run(run, channels_[channel]);
    }
  }
  for (std::size_t channel = 0; channel < channels; ++channel) {
    channels_[channel].sum.add(sums[channel]);
    if (!all.finite()) continue;
    channels_[channel].minimum = std::min(channels_[channel].minimum, ranges[channel].min);
    channels_[channel].maximum = std::max(channels_[channel].maximum, ranges[channel].max);
  }
  if (!all.finite()) {
    std::vector<float> finite;
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
                 [](float value) { return std::isfinite(value); });
    not_finite_ += values.size() - finite.size();
    return add(finite);
  }
  if (values.empty()) return;
  minimum_ = samples_ == 0 ? all.min : std::min(minimum_, all.min);
  maximum_ = samples_ == 0 ? all.max : std::max(maximum_, all.max);
  minima_.add(all.min);
  maxima_.add(all.max);
  histogram_.add(values);
  count_ += values.size();
  ++samples_;
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

constexpr double kLeastShare = 1e-2;  // least energy / mean energy
constexpr float kLargestSquared = 1e18F;

}  // namespace

void Energy::add(std::span<const float> values) {
  const std::size_t columns = sums_.size();
  if (columns == 0 || values.size() % columns != 0)
    throw Error(ErrorCode::kInternal, "the rows of a product's input do not match its weight");
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

namespace {

constexpr int kFloatMantissa = 23, kFloatBias = 127;
constexpr std::size_t kExponents =
    static_cast<std::size_t>(Histogram::kEndExponent - Histogram::kLowestExponent);
constexpr std::uint32_t kSign = 0x80000000U;
// The upper bits of an FP32 number without its sign are the index of its bin.
constexpr int kShift = kFloatMantissa - Histogram::kMantissaBits;
constexpr std::uint32_t kFirst = static_cast<std::uint32_t>(Histogram::kLowestExponent + kFloatBias)
                                 << Histogram::kMantissaBits;
constexpr std::uint32_t kEnd = static_cast<std::uint32_t>(Histogram::kEndExponent + kFloatBias)
                               << Histogram::kMantissaBits;

// The smallest magnitude in a bin.
float begin_of(std::size_t bin_of_sign) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(bin_of_sign) + kFirst) << kShift);
}

constexpr std::size_t kManyValues = 4096;  // from this number on, a flat table is faster
constexpr std::size_t kZeroCounts = 4, kStretch = 512;
constexpr std::size_t kFlushAfter = std::size_t{1} << 30;  // before 32-bit counts overflow

// The bin of the value at position `i`. Zeros are counted in several places. Without branches, so that
// compilers vectorize it.
std::uint32_t number_of(float value, std::size_t i) {
  constexpr auto kBinsOfSign = static_cast<std::uint32_t>(kExponents * Histogram::kBinsPerBlock);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t upper = (bits & ~kSign) >> kShift;
  const std::uint32_t sign = (bits & kSign) != 0 ? 0 : kBinsOfSign;
  const std::uint32_t number = sign + (upper < kEnd ? upper : kEnd - 1) - kFirst;
  const std::uint32_t zero = static_cast<std::uint32_t>(Histogram::kZeroBin) +
                             (static_cast<std::uint32_t>(i) / 2) % static_cast<std::uint32_t>(kZeroCounts);
  return upper < kFirst ? zero : number;
}

}  // namespace

Histogram::Block& Histogram::block(std::size_t number) {
  std::unique_ptr<Block>& place = blocks_[number];
  if (!place) place = std::make_unique<Block>();
  return *place;
}

void Histogram::add(std::span<const float> values) {
  if (values.size() < kManyValues) {
    for (const float value : values) add(number_of(value, 0), 1);
    return;
  }
  // Alternate between two flat tables, and between several counts of zeros: incrementing the same count twice
  // in a row would stall on its store.
  std::array<std::array<std::uint32_t, kZeroBin + kZeroCounts>, 2> tables;
  std::array<std::uint32_t, kStretch> numbers;
  for (std::size_t start = 0; start < values.size(); start += kFlushAfter) {
    const std::span<const float> part = values.subspan(start, std::min(kFlushAfter, values.size() - start));
    tables = {};
    for (std::size_t first = 0; first < part.size(); first += kStretch) {
      const std::size_t count = std::min(kStretch, part.size() - first);
      if (count == kStretch) {
        for (std::size_t i = 0; i < kStretch; ++i) numbers[i] = number_of(part[first + i], i);
      } else {
        for (std::size_t i = 0; i < count; ++i) numbers[i] = number_of(part[first + i], i);
      }
      for (std::size_t i = 0; i < count; ++i) ++tables[i & 1][numbers[i]];
    }
    for (std::size_t bin = 0; bin < kZeroBin; ++bin) {
      if (const std::uint64_t count = std::uint64_t{tables[0][bin]} + tables[1][bin]; count != 0)
        add(bin, count);
    }
    for (const auto& table : tables) {
      for (std::size_t i = 0; i < kZeroCounts; ++i) zeros_ += table[kZeroBin + i];
    }
  }
}

void Histogram::add(const Histogram& other) {
  zeros_ += other.zeros_;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (!other.blocks_[i]) continue;
    Block& to = block(i);
    for (std::size_t k = 0; k < kBinsPerBlock; ++k) to[k] += (*other.blocks_[i])[k];
  }
}

void Histogram::add(std::size_t bin, std::uint64_t count) {
  if (bin == kZeroBin) {
    zeros_ += count;
  } else {
    block(bin / kBinsPerBlock)[bin % kBinsPerBlock] += count;
  }
}

std::uint64_t Histogram::count() const {
  std::uint64_t total = zeros_;
  for (const auto& block : blocks_) {
    if (block) total = std::accumulate(block->begin(), block->end(), total);
  }
  return total;
}

std::vector<std::pair<std::size_t, std::uint64_t>> Histogram::numbered_bins() const {
  std::vector<std::pair<std::size_t, std::uint64_t>> all;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (!blocks_[i]) continue;
    for (std::size_t k = 0; k < kBinsPerBlock; ++k) {
      if ((*blocks_[i])[k] != 0) all.emplace_back(i * kBinsPerBlock + k, (*blocks_[i])[k]);
    }
  }
  if (zeros_ != 0) all.emplace_back(kZeroBin, zeros_);
  return all;
}

std::vector<Histogram::Bin> Histogram::bins() const {
  std::vector<Bin> negative, all;
  for (const auto& [number, count] : numbered_bins()) {
    if (number == kZeroBin) continue;
    const bool is_negative = number < kExponents * kBinsPerBlock;
    const std::size_t of_sign = is_negative ? number : number - kExponents * kBinsPerBlock;
    const float low = begin_of(of_sign), high = begin_of(of_sign + 1);
    if (is_negative) {
      negative.push_back({-high, -low, count});
    } else {
      all.push_back({low, high, count});
    }
  }
  if (zeros_ != 0) all.insert(all.begin(), {0, 0, zeros_});
  std::reverse(negative.begin(), negative.end());
  all.insert(all.begin(), negative.begin(), negative.end());
  return all;
}

double Histogram::quantile(double share) const {
  const std::vector<Bin> all = bins();
  if (all.empty()) return 0;
  const double wanted = share * static_cast<double>(count());
  double before = 0;
  for (const Bin& bin : all) {
    const auto here = static_cast<double>(bin.count);
    if (before + here >= wanted) {
      const double part = here == 0 ? 0 : std::clamp((wanted - before) / here, 0.0, 1.0);
      return bin.low + part * (static_cast<double>(bin.high) - bin.low);
    }
    before += here;
  }
  return all.back().high;
}

}  // namespace ounce::calibration
