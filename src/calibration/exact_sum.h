// A sum of floats without rounding: the same for every order, so that sums of parts add up to that of the
// whole.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ounce::calibration {

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

}  // namespace ounce::calibration
