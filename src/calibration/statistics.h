// Statistics of one activation over all samples, in constant memory: at most 54 kB and 32 bytes per channel.
//
// Merging the statistics of parts of the data in any order gives exactly the statistics of the whole, so that
// several machines can share a data set.
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

// A sum of FP32 numbers without rounding, so that it does not depend on the order of the numbers.
class ExactSum {
 public:
  void add(float value);  // finite
  void add(const ExactSum& other);
  double value() const;  // rounded once

  // Hexadecimal, for files. parse() throws Error{kBadInput} for an invalid text.
  std::string text() const;
  static ExactSum parse(std::string_view text);

  friend bool operator==(const ExactSum& a, const ExactSum& b) { return a.limbs_ == b.limbs_; }

 private:
  // An integer in units of 2^-149, in 32-bit limbs; the last one is signed. Every addition propagates
  // carries, so that equal sums have equal limbs.
  static constexpr std::size_t kLimbs = 11;
  void carry();
  std::array<std::int64_t, kLimbs> limbs_{};
};

// A fixed-point sum in 16 bytes, in units of 2^-60 up to 2^66, which does not depend on the order of the
// numbers.
class FixedSum {
 public:
  void add(double value);  // finite; rounded to a unit, limited to ±2^60
  void add(const FixedSum& other) { units_ += other.units_; }
  double value() const;

  // Hexadecimal, for files. parse() throws Error{kBadInput} for an invalid text.
  std::string text() const;
  static FixedSum parse(std::string_view text);

  friend bool operator==(const FixedSum& a, const FixedSum& b) { return a.units_ == b.units_; }

 private:
  __extension__ using Units = __int128;
  Units units_ = 0;
};

// A histogram with logarithmic bins, which resolves small and large values equally.
//
// A bin contains all values with the same sign, exponent and five leading bits of the mantissa, so it is at
// most 1/32 as wide as its values. No range has to be known in advance, and the result does not depend on the
// order of the values or on how they were split into parts. Values below 2^-40 count as zero, those from 2^64
// on as 2^64. Memory: 256 bytes for each sign and exponent that occurs, at most 53 kB.
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

  // The values must not contain NaN.
  void add(std::span<const float> values);
  void add(const Histogram& other);
  void add(std::size_t bin, std::uint64_t count);  // `bin` as in numbered_bins()

  std::uint64_t count() const;
  std::uint64_t zeros() const { return zeros_; }
  // The nonempty bins in ascending order of their values; zero is a bin without width.
  std::vector<Bin> bins() const;
  // The same as (number, count), for files. Zero has the number kZeroBin.
  static constexpr std::size_t kZeroBin = kBlocks * kBinsPerBlock;
  std::vector<std::pair<std::size_t, std::uint64_t>> numbered_bins() const;

  // The quantile at `share` of the values, exact to the width of its bin.
  double quantile(double share) const;

 private:
  using Block = std::array<std::uint64_t, kBinsPerBlock>;
  Block& block(std::size_t number);

  std::array<std::unique_ptr<Block>, kBlocks> blocks_;  // negative values first, by ascending exponent
  std::uint64_t zeros_ = 0;
};

struct Channel {
  float minimum = 0, maximum = 0;
  FixedSum sum;
};

class Statistics {
 public:
  // Adds the values of one sample, of any shape. NaN and infinite values are only counted.
  void add(std::span<const float> values);
  // The same with channels: the values are repeated groups of `channels` runs of `stride` values. If the
  // number of channels changes, channels are dropped.
  void add(std::span<const float> values, std::size_t channels, std::size_t stride);
  void add(const Statistics& other);

  std::uint64_t samples() const { return samples_; }
  std::uint64_t count() const { return count_; }  // of finite values
  std::uint64_t not_finite() const { return not_finite_; }
  float minimum() const { return minimum_; }
  float maximum() const { return maximum_; }
  // The mean of the samples' minima and of their maxima.
  double mean_minimum() const { return mean(minima_); }
  double mean_maximum() const { return mean(maxima_); }
  const Histogram& histogram() const { return histogram_; }
  const std::vector<Channel>& channels() const { return channels_; }
  // 0 if there are no channels.
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

// The energy of a product's inputs: the mean square of each column over all rows. It weights the quantization
// error of each weight by the input that it is multiplied by.
//
//   Energy energy(768);
//   for (each batch) energy.add(values);      // rows of 768
//   energy.means()
class Energy {
 public:
  explicit Energy(std::size_t columns) : sums_(columns, 0.0) {}

  // Ignores rows with values that are not finite. Throws Error{kInternal} if a row is incomplete.
  void add(std::span<const float> values);

  std::uint64_t rows() const { return rows_; }
  // Returns the energies, scaled to a mean of 1 and bounded below, because a column that is zero in these
  // samples may matter for other data. Empty if there are no rows or if all are zero.
  std::vector<float> means() const;

 private:
  std::vector<double> sums_;
  std::uint64_t rows_ = 0;
};

}  // namespace ounce::calibration
