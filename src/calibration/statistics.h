// What one value of a model (an activation) looked like over all samples, in constant memory: 54 kB at most,
// and 32 bytes for each channel.
//
// Statistics of parts of the data, added up in any order, are those of the whole, bit for bit: so a dataset
// can be shared out among machines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/histogram.h"

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
  // A whole number in units of 2^-149, in limbs of 32 bits. Each has room for carries, which are brought on
  // with every addition, so that equal sums are equal in all limbs; the last one has the sign.
  static constexpr std::size_t kLimbs = 11;
  void carry();
  std::array<std::int64_t, kLimbs> limbs_{};
};

// A sum of numbers in fixed point, 16 bytes: sums of parts add up to that of the whole, bit for bit.
//
// In units of 2^-60 up to 2^66: means of activations are known far better than anybody needs.

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

struct Channel {
  float minimum = 0, maximum = 0;
  FixedSum sum;
};

class Statistics {
 public:
  // One sample's values, of any shape. NaN and infinite values are counted and otherwise left out.
  void add(std::span<const float> values);
  // The same with channels: `channels` runs of `stride` values, repeated. Their number must stay the same;
  // when it does not, channels are forgotten.
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

// How large the inputs of a product are: the mean square of each column over all rows. An error of a weight
// counts at the output as much as the input that it is multiplied with.
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
  // Of mean 1, and none so small that its weights would not matter to other data; empty without rows, or if
  // all are zero.
  std::vector<float> means() const;

 private:
  std::vector<double> sums_;
  std::uint64_t rows_ = 0;
};

}  // namespace ounce::calibration
