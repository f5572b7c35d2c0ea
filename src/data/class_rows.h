// The answers in an output: rows that hold a score for each class, wherever the class axis is, or labels.
// verify() and Shadow count with the same functions, so that both mean the same by agreement.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Which axis of an output (with its batch axis) holds classes: the last one of [N,C] and [N,T,C], the second
// one of [N,C,H,W] and beyond. Nothing when it is free or has fewer than two entries: a time axis, a single
// score.
std::optional<std::size_t> class_axis(const ValueDescription& output);

// Are the values of such an output labels: classes, strings, flags, which are compared for equality?
bool is_label(ElementType type, std::size_t rank);
inline bool is_label(const ValueDescription& output) { return is_label(output.given(), output.shape.size()); }

// Of a sequence or a map a model tells no shape: it is what a run gave first.
ValueDescription described_as(const TensorView& given, ValueDescription output);

inline constexpr std::size_t kTop = 5;  // classes that may hold the right one, as is usual

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
  // The `count` best classes of a row, best first; among equals the first one.
  void best(std::size_t row, std::size_t count, std::vector<std::size_t>& classes) const;

 private:
  std::span<const float> scores_;
  std::size_t rows_, classes_, inner_;
};

}  // namespace ounce::data
