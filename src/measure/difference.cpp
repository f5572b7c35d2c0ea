#include "measure/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "data/convert.h"
#include "measure/class_rows.h"

namespace ounce::measure {
namespace {

using data::ElementType;
using data::TensorView;

constexpr std::size_t kLanes = 8;
constexpr std::size_t kTop = 5;

// Eight sums side by side, which a compiler turns into vectors; the order of additions is fixed.
struct Lanes {
  std::array<double, kLanes> absolute{}, squared{}, reference{}, candidate{}, dot{};
  std::array<float, kLanes> largest{};

  void add(const float* a, const float* b) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double x = a[k], y = b[k], d = x - y;
      const float distance = std::fabs(a[k] - b[k]);
      absolute[k] += std::fabs(d);
      squared[k] += d * d;
      reference[k] += x * x;
      candidate[k] += y * y;
      dot[k] += x * y;
      largest[k] = distance > largest[k] ? distance : largest[k];
    }
  }
};

double sum(const std::array<double, kLanes>& lanes) {
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

void add_one(float a, float b, Difference& sums) {
  const bool is_finite_a = std::isfinite(a), is_finite_b = std::isfinite(b);
  sums.reference_not_finite += is_finite_a ? 0 : 1;
  sums.candidate_not_finite += is_finite_b ? 0 : 1;
  if (!is_finite_a || !is_finite_b) {
    const bool is_same = a == b || (std::isnan(a) && std::isnan(b));
    if (!is_same) sums.largest = std::numeric_limits<double>::infinity();
    return;
  }
  const double x = a, y = b, d = x - y;
  sums.absolute += std::fabs(d);
  sums.squared += d * d;
  sums.reference += x * x;
  sums.candidate += y * y;
  sums.dot += x * y;
  sums.largest = std::max(sums.largest, std::fabs(d));
}

}  // namespace

void Difference::add(std::span<const float> a, std::span<const float> b) {
  Lanes lanes;
  const std::size_t whole = a.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) lanes.add(&a[i], &b[i]);
  Difference sums;
  sums.absolute = sum(lanes.absolute);
  sums.squared = sum(lanes.squared);
  sums.reference = sum(lanes.reference);
  sums.candidate = sum(lanes.candidate);
  sums.dot = sum(lanes.dot);
  sums.largest = *std::max_element(lanes.largest.begin(), lanes.largest.end());
  // A value that is not finite shows in the sums, a distance beyond what a float holds in the largest one;
  // then every pair is looked at.
  std::size_t at = whole;
  if (!std::isfinite(sums.reference) || !std::isfinite(sums.candidate) || !std::isfinite(sums.largest)) {
    sums = {};
    at = 0;
  }
  for (; at < a.size(); ++at) add_one(a[at], b[at], sums);
  sums.values = a.size();
  add(sums);
}

void Difference::add(const Difference& other) {
  values += other.values;
  absolute += other.absolute;
  squared += other.squared;
  reference += other.reference;
  candidate += other.candidate;
  dot += other.dot;
  largest = std::max(largest, other.largest);
  reference_not_finite += other.reference_not_finite;
  candidate_not_finite += other.candidate_not_finite;
}

double Difference::sqnr_db() const {
  if (squared == 0 && largest == 0) return std::numeric_limits<double>::infinity();
  if (std::isinf(largest)) return -std::numeric_limits<double>::infinity();
  return 10 * std::log10(reference / squared);
}

double Difference::cosine() const {
  if (reference == 0 && candidate == 0) return 1;
  if (reference == 0 || candidate == 0) return 0;
  return dot / std::sqrt(reference * candidate);
}

OutputMeter::OutputMeter(const data::ValueDescription& output, std::optional<double> threshold)
    : output_(output), threshold_(threshold) {
  if (onnx::is_float_weight_type(output.element)) class_axis_ = class_axis(output);
}

double OutputMeter::add(const TensorView& reference, const TensorView& candidate) {
  if (reference.dims != candidate.dims) {
    if (shape_differences_++ == 0) {
      first_shape_difference_ = fmt::format("{} against {}", data::describe(reference.type, reference.dims),
                                            data::describe(candidate.type, candidate.dims));
    }
    return std::numeric_limits<double>::infinity();
  }
  if (reference.type == ElementType::kString) return add_strings(reference, candidate);
  reference_values_ = data::floats_of(reference, reference_floats_, output_.name);
  candidate_values_ = data::floats_of(candidate, candidate_floats_, output_.name);
  Difference sums;
  sums.add(reference_values_, candidate_values_);
  difference_.add(sums);
  if (class_axis_ && reference.dims.size() == output_.shape.size()) add_rows(reference.dims);
  if (threshold_) {
    for (std::size_t i = 0; i < reference_values_.size(); ++i)
      flips_ += (reference_values_[i] >= *threshold_) != (candidate_values_[i] >= *threshold_) ? 1U : 0U;
    decisions_ += reference_values_.size();
  }
  return sums.largest;
}

// Strings are equal or not: a difference of 0 or 1.
double OutputMeter::add_strings(const TensorView& reference, const TensorView& candidate) {
  Difference sums;
  const std::size_t count = std::min(reference.strings->size(), candidate.strings->size());
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = (*reference.strings)[i] == (*candidate.strings)[i] ? 0 : 1;
    sums.absolute += distance;
    sums.squared += distance;
    sums.largest = std::max(sums.largest, distance);
  }
  sums.values = count;
  sums.reference = sums.candidate = static_cast<double>(count);
  sums.dot = static_cast<double>(count) - sums.absolute;
  difference_.add(sums);
  return sums.largest;
}

void OutputMeter::add_rows(const data::Dims& dims) {
  const ClassRows reference(reference_values_, dims, *class_axis_),
      candidate(candidate_values_, dims, *class_axis_);
  classes_ = reference.classes();
  for (std::size_t row = 0; row < reference.rows(); ++row) {
    ++rows_;
    if (classes_ <= kTop) {
      same_best_ += reference.best(row) == candidate.best(row) ? 1U : 0U;
      continue;
    }
    reference.best(row, kTop, reference_best_);
    candidate.best(row, kTop, candidate_best_);
    same_best_ += reference_best_[0] == candidate_best_[0] ? 1U : 0U;
    std::size_t shared = 0;
    for (const std::size_t of_class : candidate_best_)
      shared +=
          static_cast<std::size_t>(std::count(reference_best_.begin(), reference_best_.end(), of_class));
    shared_of_five_ += static_cast<double>(shared) / kTop;
  }
}

OutputComparison OutputMeter::result() const {
  OutputComparison result;
  result.name = output_.name;
  result.type = onnx::name_of(output_.element);
  result.values = difference_.values;
  result.max_abs_diff = difference_.largest;
  result.mean_abs_diff = difference_.mean_abs();
  result.mse = difference_.values == 0 ? 0 : difference_.squared / static_cast<double>(difference_.values);
  result.sqnr_db = difference_.sqnr_db();
  result.cosine = difference_.cosine();
  if (rows_ != 0) {
    const auto rows = static_cast<double>(rows_);
    result.top1_agreement = static_cast<double>(same_best_) / rows;
    if (classes_ > kTop) result.top5_agreement = shared_of_five_ / rows;
  }
  if (threshold_) result.flips = flips_;
  result.decisions = decisions_;
  result.reference_not_finite = difference_.reference_not_finite;
  result.candidate_not_finite = difference_.candidate_not_finite;
  return result;
}

}  // namespace ounce::measure
