// How far the outputs of two models are apart, added up sample by sample in constant memory.
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

// Sums over pairs of values. Pairs with a value that is not finite are counted and not summed, unless both
// are the same infinity.
struct Difference {
  std::uint64_t values = 0;
  double absolute = 0, squared = 0;              // of a − b
  double reference = 0, candidate = 0, dot = 0;  // a², b², a·b
  double largest = 0;                            // |a − b|; infinite when only one of them is finite
  std::uint64_t reference_not_finite = 0, candidate_not_finite = 0;
  std::uint64_t newly_not_finite = 0;  // in the candidate, where the reference is finite

  void add(std::span<const float> reference, std::span<const float> candidate);
  void add(std::span<const double> reference, std::span<const double> candidate);
  // Numbers of any type; 64-bit integers are compared without rounding.
  void add(const data::TensorView& reference, const data::TensorView& candidate, const std::string& name);
  // Labels are equal or not: a changed one is noise of 1, against a signal of 1. Returns how many changed.
  std::uint64_t add_labels(const data::TensorView& reference, const data::TensorView& candidate);
  void add(const Difference& other);
  double mean_abs() const;  // infinite when the largest is
  double sqnr_db() const;
  double cosine() const;
};

// Finds slices: parts of one output of another kind or scale than the rest, which the whole hides:
//
//   output0 [1, 84, 8400]   boxes in pixels   0:4    rms 300
//                           scores            4:84   rms .005      noise of .003 drowns it, and no sum shows
//                           it
//
// Along each short axis except the first one, which counts the samples, sums are kept for every index.
// Indices of similar scale form a group, which is judged as one, so that the large values of a kind (the
// classes that occur) decide, and not a single index that is always near zero. Memory does not grow with the
// samples.
class SliceMeter {
 public:
  // Values of the same dimensions. An axis that is not as long in every sample has no slices.
  void add(std::span<const float> reference, std::span<const float> candidate, const data::Dims& dims);

  // Everything added since the last call is one sample: a bootstrap over the samples gives the confidence.
  void end_sample();

  // Worst first; none where all indices of every axis are alike.
  std::vector<OutputSlice> slices(const std::string& output) const;

  // The sums of one index. Pairs with a value that is not finite are left out.
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

using data::is_label;

// One output over all samples.
class OutputMeter {
 public:
  OutputMeter(const data::ValueDescription& output, std::optional<double> threshold);

  // A list of detections may have another length: then its values are not compared one by one.
  void allow_other_lengths() { is_list_ = true; }
  bool is_list() const { return is_list_; }

  // Returns the largest difference of these values; of labels, how many changed. Different shapes are noted
  // and make the gate fail. `is_silent`: see OutputComparison::silent_values.
  double add(const data::TensorView& reference, const data::TensorView& candidate, bool is_silent = false);

  OutputComparison result() const;
  const Difference& difference() const { return difference_; }
  const Difference& for_sqnr() const { return for_sqnr_; }  // without samples that are silent
  bool is_label() const { return is_label_; }
  // Of outputs with a class axis: how many answers there were, and how many have another best class. Of
  // labels: how many there were, and how many are others.
  std::uint64_t answers() const { return rows_; }
  std::uint64_t other_answers() const { return rows_ - same_best_; }
  // Of outputs with a threshold, as result() counts them.
  std::uint64_t decisions() const { return decides_by_pairs() ? pairs_ : decisions_; }
  std::uint64_t flips() const { return decides_by_pairs() ? pair_flips_ : flips_; }
  // The same for single values and for pairs: which of them count is known after the last sample.
  struct Decisions {
    std::uint64_t flips = 0, of = 0, pair_flips = 0, pairs = 0;
  };
  Decisions all_decisions() const { return {flips_, decisions_, pair_flips_, pairs_}; }
  bool decides_by_pairs() const { return are_pairs_ && pairs_ != 0; }
  // Everything added since the last call is one sample, as OutputEvidence counts them: for the bounds of
  // slices.
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
  // Of rows of two probabilities, as long as all of them add up to 1.
  std::uint64_t pair_flips_ = 0, pairs_ = 0;
  bool are_pairs_ = true;
  std::size_t classes_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>
      changed_;  // answers, from one class to another
  double shared_of_five_ = 0;
  std::string first_shape_difference_;
  std::vector<float> reference_floats_, candidate_floats_;  // for outputs of other types
  std::span<const float> reference_values_, candidate_values_;
  std::vector<std::size_t> reference_best_, candidate_best_;
};

// The evidence of samples about unseen data: independent samples of one output, in constant memory.
class OutputEvidence {
 public:
  // Everything added to the meter since the last call is one more sample.
  void add(const OutputMeter& meter);
  void fill(OutputComparison& output) const;
  std::uint64_t samples() const { return samples_; }

 private:
  Difference before_, loud_before_;
  std::uint64_t answers_ = 0, other_answers_ = 0, samples_ = 0;
  PairedMean energy_, distance_, squares_;  // signal and noise; |a − b|, and (a − b)², of nothing
  EventCount others_, flips_, pair_flips_;
  OutputMeter::Decisions decisions_;
  bool decides_by_pairs_ = false;
};

}  // namespace ounce::evaluate
