#include "observe/fixed_sum.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ounce::observe {
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

}  // namespace ounce::observe
