// Measures the differences between the outputs of two models, sample by sample, in constant memory.
#pragma once

#include <ounce/verify.h>

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {

// Sums over pairs of values. Pairs with NaN or infinity are counted but not summed, unless both are the same
// infinity.
struct Difference {
  std::uint64_t values = 0;
  double absolute = 0, squared = 0;              // of a − b
  double reference = 0, candidate = 0, dot = 0;  // a², b², a·b
  double largest = 0;                            // |a − b|; infinite if only one of them is finite
  std::uint64_t reference_not_finite = 0, candidate_not_finite = 0;
  std::uint64_t newly_not_finite = 0;  // NaN or infinite only in the candidate

  void add(std::span<const float> reference, std::span<const float> candidate);
  void add(std::span<const double> reference, std::span<const double> candidate);
  // Adds numbers of any type. 64-bit integers are compared without rounding.
  void add(const data::TensorView& reference, const data::TensorView& candidate, const std::string& name);
  // Adds labels: each has a signal of 1, and a changed one a noise of 1. Returns the number of changed
  // labels.
  std::uint64_t add_labels(const data::TensorView& reference, const data::TensorView& candidate);
  void add(const Difference& other);
  double mean_abs() const;  // infinite if `largest` is
  double sqnr_db() const;
  double cosine() const;
};

// Finds slices: parts of an output with another scale than the rest. The SQNR of the whole output hides their
// error:
//
//   output0 [1, 84, 8400]   boxes in pixels   0:4    rms 300
//                           scores            4:84   rms .005    (an error of .003 is large here)
//
// Sums are kept for every index of each short axis, except for the first axis, which counts the samples.
// Indices of similar scale form one group, whose SQNR is judged. Its large values (the classes that occur)
// dominate, not a single index that is always near zero. Memory does not grow with the number of samples.
class SliceMeter {
 public:
  // Adds values of the same dimensions. An axis whose length differs between samples has no slices.
  void add(std::span<const float> reference, std::span<const float> candidate, const data::Dims& dims);

  // Ends a sample: all values added since the last call. A bootstrap over the samples gives the confidence
  // intervals.
  void end_sample();

  // Returns the slices, lowest SQNR first; none if the indices of every axis have similar scales.
  std::vector<OutputSlice> slices(const std::string& output) const;

  // The sums of one index, without pairs that have NaN or infinity.
  struct Sums {
    std::uint64_t values = 0;
    double reference = 0, squared = 0;  // a², (a − b)²
    float low = 0, high = 0;            // of the reference

    void add(const Sums& other);
    double rms() const;
    bool is_score() const;  // all values are from 0 to 1
  };

 private:
  void add_to(std::size_t axis, std::size_t index, const Sums& more);

  std::size_t rank_ = 0;
  std::vector<std::vector<Sums>> axes_;  // by axis and index; empty for ignored axes
  // For one axis: a² and (a − b)² of each index, of the current sample (`pending`), and of the ended samples
  // in each bootstrap replica (`sums`). Indices are grouped into slices only at the end, so each has its own
  // sums.
  struct Replicas {
    std::vector<double> pending, sums;
  };
  std::vector<Replicas> replicas_;
  std::uint64_t samples_ = 0;

  double deviation_db(std::size_t axis, const OutputSlice& slice) const;
};

using data::is_label;

// Compares one output over all samples.
class OutputMeter {
 public:
  OutputMeter(const data::ValueDescription& output, std::optional<double> threshold);

  // Allows another number of detections: the values of such a list are not compared one by one.
  void allow_other_lengths() { is_list_ = true; }
  bool is_list() const { return is_list_; }

  // Adds values and returns their largest difference, or the number of changed labels. Different shapes are
  // recorded and make the gates fail. `is_silent`: see OutputComparison::silent_values.
  double add(const data::TensorView& reference, const data::TensorView& candidate, bool is_silent = false);

  OutputComparison result() const;
  const Difference& difference() const { return difference_; }
  const Difference& for_sqnr() const { return for_sqnr_; }  // without silent samples
  bool is_label() const { return is_label_; }
  // For outputs with a class axis: the number of predictions, and of those with another top-1 class. For
  // labels: the number of labels, and of changed ones.
  std::uint64_t answers() const { return rows_; }
  std::uint64_t other_answers() const { return rows_ - same_best_; }
  // For outputs with a threshold, counted as in result().
  std::uint64_t decisions() const { return decides_by_pairs() ? pairs_ : decisions_; }
  std::uint64_t flips() const { return decides_by_pairs() ? pair_flips_ : flips_; }
  // Counts by single values and by pairs. Which of them applies is known after the last sample.
  struct Decisions {
    std::uint64_t flips = 0, of = 0, pair_flips = 0, pairs = 0;
  };
  Decisions all_decisions() const { return {flips_, decisions_, pair_flips_, pairs_}; }
  bool decides_by_pairs() const { return are_pairs_ && pairs_ != 0; }
  // Ends an independent sample (see OutputEvidence), for the confidence bounds of slices.
  void end_sample() { slices_.end_sample(); }
  std::uint64_t shape_differences() const { return shape_differences_; }
  const std::string& first_shape_difference() const { return first_shape_difference_; }

 private:
  Difference add_labels(const data::TensorView& reference, const data::TensorView& candidate);
  void add_values(const data::TensorView& reference, const data::TensorView& candidate, bool is_silent);
  void add_rows(const data::Dims& dims);
  void add_decisions(const data::Dims& dims);
  void add_answer(std::size_t reference, std::size_t candidate);
  void note_changed(std::size_t reference, std::size_t candidate);
  double sqnr_db() const;
  std::vector<ChangedAnswer> changed_answers() const;

  data::ValueDescription output_;
  std::optional<double> threshold_;
  bool is_list_ = false, is_label_ = false;
  std::optional<std::size_t> class_axis_;
  Difference difference_, for_sqnr_;
  SliceMeter slices_;
  std::uint64_t rows_ = 0, same_best_ = 0, flips_ = 0, decisions_ = 0, shape_differences_ = 0;
  // For rows of two probabilities that add up to 1.
  std::uint64_t pair_flips_ = 0, pairs_ = 0;
  bool are_pairs_ = true;
  std::size_t classes_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>
      changed_;  // counts of changed predictions, by old and new class
  double shared_of_five_ = 0;
  std::string first_shape_difference_;
  std::vector<float> reference_floats_, candidate_floats_;  // converted values of other types
  std::span<const float> reference_values_, candidate_values_;
  std::vector<std::size_t> reference_best_, candidate_best_;
};

// Statistics of one output over independent samples, for confidence bounds on unseen data. In constant
// memory.
class OutputEvidence {
 public:
  // Adds one sample: all values added to the meter since the last call.
  void add(const OutputMeter& meter);
  void fill(OutputComparison& output) const;
  std::uint64_t samples() const { return samples_; }

 private:
  Difference before_, loud_before_;
  std::uint64_t answers_ = 0, other_answers_ = 0, samples_ = 0;
  PairedMean energy_, distance_, squares_;  // signal and noise; |a − b| and (a − b)², each paired with 0
  EventCount others_, flips_, pair_flips_;
  OutputMeter::Decisions decisions_;
  bool decides_by_pairs_ = false;
};

}  // namespace ounce::evaluate
