// How often values of each size occurred: counts by the leading bits of a float, so that small and large
// values are told apart equally well.
//
// A bin holds all values of one sign, one exponent and the same five leading bits of the mantissa: it is at
// most 1/32 as wide as the values in it. Nothing has to be known before, no range has to grow, and the result
// depends neither on the order of the values nor on how they were split: histograms of parts add up to that
// of the whole, bit for bit. Values below 2^-40 count as zero, those from 2^64 on as 2^64. Memory: 256 bytes
// for each sign and exponent that occurs, 53 kB at most.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ounce::calibration {

class Histogram {
 public:
  static constexpr int kMantissaBits = 5;
  static constexpr int kLowestExponent = -40, kEndExponent = 64;
  static constexpr std::size_t kBinsPerBlock = std::size_t{1} << kMantissaBits;
  static constexpr std::size_t kBlocks = 2 * static_cast<std::size_t>(kEndExponent - kLowestExponent);

  struct Bin {
    float low = 0, high = 0;  // low ≤ x ≤ high
    std::uint64_t count = 0;

    double middle() const { return (static_cast<double>(low) + high) / 2; }
  };

  Histogram() = default;
  Histogram(Histogram&&) noexcept = default;
  Histogram& operator=(Histogram&&) noexcept = default;

  // NaN is not for here: the caller counts it.
  void add(std::span<const float> values);
  void add(const Histogram& other);
  void add(std::size_t bin, std::uint64_t count);  // by the number that numbered_bins() gives

  std::uint64_t count() const;
  std::uint64_t zeros() const { return zeros_; }
  // Those that hold something, in the order of their values; zero is a bin of no width.
  std::vector<Bin> bins() const;
  // The same as (number, count), for files. Zero has the number kZeroBin.
  static constexpr std::size_t kZeroBin = kBlocks * kBinsPerBlock;
  std::vector<std::pair<std::size_t, std::uint64_t>> numbered_bins() const;

  // A value that a share of all values does not exceed, exact to the width of its bin.
  double quantile(double share) const;

 private:
  using Block = std::array<std::uint64_t, kBinsPerBlock>;
  Block& block(std::size_t number);

  std::array<std::unique_ptr<Block>, kBlocks> blocks_;  // those of negative values first, by rising exponent
  std::uint64_t zeros_ = 0;
};

}  // namespace ounce::calibration
