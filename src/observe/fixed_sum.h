// A sum of numbers in fixed point, 16 bytes: sums of parts add up to that of the whole, bit for bit.
//
// In units of 2^-60 up to 2^66: means of activations are known far better than anybody needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ounce::observe {

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

}  // namespace ounce::observe
