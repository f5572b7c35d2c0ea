// Parts of one output that are of another kind or scale than the rest, so that the whole hides them:
//
//   output0 [1, 84, 8400]   boxes in pixels   0:4    rms 300
//                           scores            4:84   rms .005      noise of .003 drowns it, and no sum tells
//
// Along each short axis but the first one, which counts the samples, sums are kept for every index. Indices
// of like scale are one group, and a group is judged as one, so that the loud ones of a kind (the classes
// that occur) decide, and not a single one that never says anything. Memory does not grow with the samples.
#pragma once

#include <ounce/verify.h>

#include <span>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

class SliceMeter {
 public:
  // Values of the same dimensions. An axis that is not as long in every sample has no slices.
  void add(std::span<const float> reference, std::span<const float> candidate, const data::Dims& dims);

  // What was added since the last call is one sample: a bootstrap over the samples tells how sure a slice is.
  void end_sample();

  // Worst first; none where all indices of every axis are alike.
  std::vector<OutputSlice> slices(const std::string& output) const;

  // What is known of one index. Pairs with a value that is not finite are left out.
  struct Sums {
    std::uint64_t values = 0;
    double reference = 0, squared = 0;  // a², (a − b)²
    float low = 0, high = 0;            // of the reference

    void add(const Sums& other);
    double rms() const;
    bool is_score() const;  // all of them from 0 to 1
  };

 private:
  void add_to(std::size_t axis, std::size_t index, const Sums& more);

  std::size_t rank_ = 0;
  std::vector<std::vector<Sums>> axes_;  // by axis and index; empty: not looked at
  // Of an axis: a² and (a − b)² of each index, of the sample that is not ended yet, and of all others in each
  // replica. Which indices are one slice is known at the end, so each has its own sums.
  struct Replicas {
    std::vector<double> pending, sums;
  };
  std::vector<Replicas> replicas_;
  std::uint64_t samples_ = 0;

  double deviation_db(std::size_t axis, const OutputSlice& slice) const;
};

}  // namespace ounce::evaluate
