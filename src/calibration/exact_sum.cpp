#include "calibration/exact_sum.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace ounce::calibration {
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
