// Predictions in an output: rows of class scores, with the class axis at any position, or labels. verify()
// and Shadow both count with these functions, so that their agreement is comparable.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// The class axis of an output, including the batch axis: the last axis of [N,C] and [N,T,C], the second axis
// of [N,C,H,W] and higher ranks. Nothing if that axis is dynamic (a time axis) or has fewer than two entries
// (a single score).
std::optional<std::size_t> class_axis(const ValueDescription& output);

// True if the values of such an output are labels (classes, strings, flags), which are compared for equality.
bool is_label(ElementType type, std::size_t rank);
inline bool is_label(const ValueDescription& output) { return is_label(output.given(), output.shape.size()); }

// Completes the description of a sequence or a map, whose shape is known only from the first run.
ValueDescription described_as(const TensorView& given, ValueDescription output);

inline constexpr std::size_t kTop = 5;  // for top-5 accuracy

// A view of scores as rows of classes.
class ClassRows {
 public:
  ClassRows(std::span<const float> scores, const Dims& dims, std::size_t axis);

  std::size_t rows() const { return rows_; }
  std::size_t classes() const { return classes_; }
  float score(std::size_t row, std::size_t of_class) const {
    return scores_[row / inner_ * classes_ * inner_ + of_class * inner_ + row % inner_];
  }
  std::size_t best(std::size_t row) const;
  // The `count` best classes of a row, best first. Equal scores keep the order of the classes.
  void best(std::size_t row, std::size_t count, std::vector<std::size_t>& classes) const;

 private:
  std::span<const float> scores_;
  std::size_t rows_, classes_, inner_;
};

}  // namespace ounce::data
