#include "calibration/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace ounce::calibration {
namespace {

constexpr int kFloatMantissa = 23, kFloatBias = 127;
constexpr std::size_t kExponents =
    static_cast<std::size_t>(Histogram::kEndExponent - Histogram::kLowestExponent);
constexpr std::uint32_t kSign = 0x80000000U;
// The upper bits of a float, without its sign, number the bins of all exponents.
constexpr int kShift = kFloatMantissa - Histogram::kMantissaBits;
constexpr std::uint32_t kFirst = static_cast<std::uint32_t>(Histogram::kLowestExponent + kFloatBias)
                                 << Histogram::kMantissaBits;
constexpr std::uint32_t kEnd = static_cast<std::uint32_t>(Histogram::kEndExponent + kFloatBias)
                               << Histogram::kMantissaBits;

// The magnitude at which a bin begins.
float begin_of(std::size_t bin_of_sign) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(bin_of_sign) + kFirst) << kShift);
}

constexpr std::size_t kManyValues = 4096;                  // a table of its own pays for itself
constexpr std::size_t kFlushAfter = std::size_t{1} << 30;  // before a count of 32 bits is full

std::size_t number_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t upper = (bits & ~kSign) >> kShift;
  const std::size_t sign = (bits & kSign) != 0 ? 0 : kExponents * Histogram::kBinsPerBlock;
  const std::size_t number = sign + std::min(upper, kEnd - 1) - kFirst;
  return upper < kFirst ? Histogram::kZeroBin : number;
}

}  // namespace

Histogram::Block& Histogram::block(std::size_t number) {
  std::unique_ptr<Block>& place = blocks_[number];
  if (!place) place = std::make_unique<Block>();
  return *place;
}

void Histogram::add(std::span<const float> values) {
  if (values.size() < kManyValues) {
    for (const float value : values) add(number_of(value), 1);
    return;
  }
  // Two flat tables that take turns: the same bin twice in a row would wait for its own count to be stored.
  std::array<std::array<std::uint32_t, kZeroBin + 1>, 2> tables;
  for (std::size_t start = 0; start < values.size(); start += kFlushAfter) {
    const std::span<const float> part = values.subspan(start, std::min(kFlushAfter, values.size() - start));
    tables = {};
    std::size_t i = 0;
    for (; i + 1 < part.size(); i += 2) {
      ++tables[0][number_of(part[i])];
      ++tables[1][number_of(part[i + 1])];
    }
    if (i < part.size()) ++tables[0][number_of(part[i])];
    for (std::size_t bin = 0; bin <= kZeroBin; ++bin) {
      if (const std::uint64_t count = std::uint64_t{tables[0][bin]} + tables[1][bin]; count != 0)
        add(bin, count);
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
