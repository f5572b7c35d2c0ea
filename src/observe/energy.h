// How large the inputs of a product are: the mean square of each column over all rows. An error of a weight
// counts at the output as much as the input that it is multiplied with.
//
//   Energy energy(768);
//   for (each batch) energy.add(values);      // rows of 768
//   energy.means()
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ounce::observe {

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

}  // namespace ounce::observe
