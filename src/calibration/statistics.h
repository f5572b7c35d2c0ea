// Statistics of one value of a model (an activation) over all samples, in constant memory: 54 kB at most, and
// 32 bytes for each channel.
//
// Statistics of parts of the data, added up in any order, are those of the whole, bit for bit, so several
// machines can share a dataset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::calibration {

// A sum of floats without rounding: the same for every order, so that sums of parts add up to that of the
// whole.
class ExactSum {
 public:
  void add(float value);  // finite
  void add(const ExactSum& other);
  double value() const;  // rounded once

  // Hexadecimal, for files. Throws Error{kBadInput} for a text that is none.
  std::string text() const;
  static ExactSum parse(std::string_view text);

  friend bool operator==(const ExactSum& a, const ExactSum& b) { return a.limbs_ == b.limbs_; }

 private:
  // A whole number in units of 2^-149, in limbs of 32 bits. Every addition propagates its carries, so that
  // equal sums are equal in all limbs; the last limb has the sign.
  static constexpr std::size_t kLimbs = 11;
  void carry();
  std::array<std::int64_t, kLimbs> limbs_{};
};

// A sum of numbers in fixed point, 16 bytes, in units of 2^-60 up to 2^66: sums of parts add up to that of
// the whole, bit for bit.
class FixedSum {
 public:
  void add(double value);  // finite; rounded to a unit, limited to ±2^60
  void add(const FixedSum& other) { units_ += other.units_; }
  double value() const;

  // Hexadecimal, for files. Throws Error{kBadInput} for a text that is none.
  std::string text() const;
  static FixedSum parse(std::string_view text);

  friend bool operator==(const FixedSum& a, const FixedSum& b) { return a.units_ == b.units_; }

 private:
  __extension__ using Units = __int128;
  Units units_ = 0;
};

// A histogram of values by the leading bits of a float, so that it resolves small and large values equally.
//
// A bin holds all values of one sign, one exponent and the same five leading bits of the mantissa: it is at
// most 1/32 as wide as the values in it. No range has to be known before, and the result depends neither on
// the order of the values nor on how they were split: histograms of parts add up to that of the whole, bit
// for bit. Values below 2^-40 count as zero, those from 2^64 on as 2^64. Memory: 256 bytes for each sign and
// exponent that occurs, 53 kB at most.
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

  // No NaN: the caller counts them.
  void add(std::span<const float> values);
  void add(const Histogram& other);
  void add(std::size_t bin, std::uint64_t count);  // by the number that numbered_bins() gives

  std::uint64_t count() const;
  std::uint64_t zeros() const { return zeros_; }
  // The bins that are not empty, in the order of their values; zero is a bin of no width.
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

struct Channel {
  float minimum = 0, maximum = 0;
  FixedSum sum;
};

class Statistics {
 public:
  // One sample's values, of any shape. NaN and infinite values are only counted.
  void add(std::span<const float> values);
  // The same with channels: `channels` runs of `stride` values, repeated. If their number changes,
  // channels are dropped.
  void add(std::span<const float> values, std::size_t channels, std::size_t stride);
  void add(const Statistics& other);

  std::uint64_t samples() const { return samples_; }
  std::uint64_t count() const { return count_; }  // of finite values
  std::uint64_t not_finite() const { return not_finite_; }
  float minimum() const { return minimum_; }
  float maximum() const { return maximum_; }
  // The mean over the samples of their smallest and of their largest value.
  double mean_minimum() const { return mean(minima_); }
  double mean_maximum() const { return mean(maxima_); }
  const Histogram& histogram() const { return histogram_; }
  const std::vector<Channel>& channels() const { return channels_; }
  // Of one channel; 0 when there are none.
  double mean_of_channel(std::size_t channel) const;

 private:
  friend struct StatisticsFile;
  double mean(const ExactSum& sum) const {
    return samples_ == 0 ? 0 : sum.value() / static_cast<double>(samples_);
  }
  void add_channels(std::span<const float> values, std::size_t channels, std::size_t stride);

  std::uint64_t samples_ = 0, count_ = 0, not_finite_ = 0;
  float minimum_ = 0, maximum_ = 0;
  ExactSum minima_, maxima_;
  Histogram histogram_;
  std::vector<Channel> channels_;
  bool has_lost_channels_ = false;
};

// The energy of a product's inputs: the mean square of each column over all rows. It weights the error of a
// weight by the input that it is multiplied with.
//
//   Energy energy(768);
//   for (each batch) energy.add(values);      // rows of 768
//   energy.means()
class Energy {
 public:
  explicit Energy(std::size_t columns) : sums_(columns, 0.0) {}

  // Rows with values that are not finite are left out. Throws Error{kInternal} if they are no whole rows.
  void add(std::span<const float> values);

  std::uint64_t rows() const { return rows_; }
  // Their mean is 1, and none is so small that its weights would not matter for other data; empty without
  // rows, or if all are zero.
  std::vector<float> means() const;

 private:
  std::vector<double> sums_;
  std::uint64_t rows_ = 0;
};

}  // namespace ounce::calibration
