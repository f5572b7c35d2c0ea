#include "evaluate/compare/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

using data::TensorView;

constexpr std::size_t kLanes = 8;
constexpr std::size_t kMostPairs = 65'536;  // pairs of classes in the table of changed predictions
constexpr double kPairRounding = 0.01;      // two 16-bit probabilities add up to 1 within this error

// Eight parallel sums that the compiler can vectorize; the order of additions is fixed.
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

// `d` is |x − y|, which may be more exact than the difference of the two doubles.
void add_one(double x, double y, double d, Difference& sums) {
  const bool is_finite_x = std::isfinite(x), is_finite_y = std::isfinite(y);
  sums.reference_not_finite += is_finite_x ? 0 : 1;
  sums.candidate_not_finite += is_finite_y ? 0 : 1;
  sums.newly_not_finite += is_finite_x && !is_finite_y ? 1 : 0;
  if (!is_finite_x || !is_finite_y) {
    const bool is_same = x == y || (std::isnan(x) && std::isnan(y));
    if (!is_same) sums.largest = std::numeric_limits<double>::infinity();
    return;
  }
  sums.absolute += std::fabs(d);
  sums.squared += d * d;
  sums.reference += x * x;
  sums.candidate += y * y;
  sums.dot += x * y;
  sums.largest = std::max(sums.largest, std::fabs(d));
}

template <class Integer>
void add_integers(const TensorView& reference, const TensorView& candidate, Difference& sums) {
  const auto* a = reinterpret_cast<const Integer*>(reference.bytes.data());
  const auto* b = reinterpret_cast<const Integer*>(candidate.bytes.data());
  for (std::size_t i = 0; i < reference.bytes.size() / sizeof(Integer); ++i) {
    const auto x = static_cast<std::uint64_t>(a[i]), y = static_cast<std::uint64_t>(b[i]);
    const auto distance =
        static_cast<double>(a[i] > b[i] ? x - y : y - x);  // exact, as unsigned numbers wrap
    add_one(static_cast<double>(a[i]), static_cast<double>(b[i]), distance, sums);
  }
  sums.values += reference.bytes.size() / sizeof(Integer);
}

// Returns the number of changed elements and the number of elements.
std::pair<std::uint64_t, std::uint64_t> count_changed(const TensorView& a, const TensorView& b) {
  std::uint64_t changed = 0;
  if (a.type == ElementType::kString) {
    const std::size_t count = std::min(a.strings->size(), b.strings->size());
    for (std::size_t i = 0; i < count; ++i) changed += (*a.strings)[i] == (*b.strings)[i] ? 0U : 1U;
    return {changed, count};
  }
  const auto bits = static_cast<std::size_t>(info_of(a.type).bits);
  if (bits < 8) {  // packed
    const std::vector<double> x = data::to_doubles(a, ""), y = data::to_doubles(b, "");
    for (std::size_t i = 0; i < x.size(); ++i) changed += x[i] == y[i] ? 0U : 1U;
    return {changed, x.size()};
  }
  const std::size_t width = bits / 8, count = a.bytes.size() / width;
  if (a.bytes == b.bytes) return {0, count};
  for (std::size_t i = 0; i < count; ++i)
    changed += a.bytes.substr(i * width, width) == b.bytes.substr(i * width, width) ? 0U : 1U;
  return {changed, count};
}

// Class numbers are non-negative and exact in a double.
bool is_class_number(double value) { return value >= 0 && value < 9e15; }

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
  // A value that is not finite makes a sum infinite or NaN; a difference that overflows a float makes
  // `largest` infinite. Then add all pairs one by one.
  std::size_t at = whole;
  if (!std::isfinite(sums.reference) || !std::isfinite(sums.candidate) || !std::isfinite(sums.largest)) {
    sums = {};
    at = 0;
  }
  for (; at < a.size(); ++at) add_one(a[at], b[at], static_cast<double>(a[at]) - b[at], sums);
  sums.values = a.size();
  add(sums);
}

void Difference::add(std::span<const double> a, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) add_one(a[i], b[i], a[i] - b[i], *this);
  values += a.size();
}

void Difference::add(const TensorView& ours, const TensorView& theirs, const std::string& name) {
  std::vector<float> a, b;
  switch (ours.type) {
    case ElementType::kFloat:
    case ElementType::kFloat16:
    case ElementType::kBfloat16: return add(data::floats_of(ours, a, name), data::floats_of(theirs, b, name));
    case ElementType::kInt64: return add_integers<std::int64_t>(ours, theirs, *this);
    case ElementType::kUint64: return add_integers<std::uint64_t>(ours, theirs, *this);
    default:
      return add(std::span<const double>(data::to_doubles(ours, name)),
                 std::span<const double>(data::to_doubles(theirs, name)));
  }
}

std::uint64_t Difference::add_labels(const TensorView& ours, const TensorView& theirs) {
  const auto [changed, count] = count_changed(ours, theirs);
  const auto all = static_cast<double>(count), others = static_cast<double>(changed);
  values += count;
  absolute += others;
  squared += others;
  reference += all;
  candidate += all;
  dot += all - others;
  if (changed != 0) largest = std::max(largest, 1.0);
  return changed;
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
  newly_not_finite += other.newly_not_finite;
}

double Difference::mean_abs() const {
  if (std::isinf(largest)) return largest;
  return values == 0 ? 0 : absolute / static_cast<double>(values);
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
    : output_(output), threshold_(threshold), is_label_(data::is_label(output)) {
  if (is_float_weight_type(output.element)) class_axis_ = class_axis(output);
}

double OutputMeter::add(const TensorView& reference, const TensorView& candidate, bool is_silent) {
  if (!output_.is_tensor()) {
    output_ = described_as(reference, output_);
    if (is_float_weight_type(output_.element)) class_axis_ = class_axis(output_);
  }
  // If the model leaves the rank open, the first values decide: 8-bit integers are labels depending on the
  // rank.
  if (difference_.values == 0) is_label_ = data::is_label(reference.type, reference.dims.size());
  Difference sums;
  if (is_list_ && reference.type == candidate.type && reference.dims.size() == candidate.dims.size())
    return 0;
  if (reference.dims != candidate.dims || reference.type != candidate.type) {
    if (shape_differences_++ == 0) {
      first_shape_difference_ = fmt::format("{} against {}", data::describe(reference.type, reference.dims),
                                            data::describe(candidate.type, candidate.dims));
    }
    sums.largest = std::numeric_limits<double>::infinity();
    is_silent = false;
  } else if (is_label_) {
    sums = add_labels(reference, candidate);
  } else {
    sums.add(reference, candidate, output_.name);
    add_values(reference, candidate, is_silent);
  }
  difference_.add(sums);
  if (!is_silent || sums.newly_not_finite != 0) for_sqnr_.add(sums);
  return is_label_ && std::isfinite(sums.largest) ? sums.absolute : sums.largest;
}

Difference OutputMeter::add_labels(const TensorView& reference, const TensorView& candidate) {
  Difference sums;
  const std::uint64_t changed = sums.add_labels(reference, candidate);
  rows_ += sums.values;
  same_best_ += sums.values - changed;
  if (changed == 0 || reference.type == ElementType::kString) return sums;
  const std::vector<double> before = data::to_doubles(reference, output_.name),
                            after = data::to_doubles(candidate, output_.name);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i] && is_class_number(before[i]) && is_class_number(after[i]))
      note_changed(static_cast<std::size_t>(before[i]), static_cast<std::size_t>(after[i]));
  }
  return sums;
}

// Adds the values, as floats, to the slices, predictions and decisions.
void OutputMeter::add_values(const TensorView& reference, const TensorView& candidate, bool is_silent) {
  const bool has_rows = class_axis_ && reference.dims.size() == output_.shape.size();
  const bool has_slices = is_float_weight_type(reference.type) && reference.dims.size() > 1 && !is_silent;
  if (!has_rows && !has_slices && !threshold_) return;
  reference_values_ = data::floats_of(reference, reference_floats_, output_.name);
  candidate_values_ = data::floats_of(candidate, candidate_floats_, output_.name);
  if (has_slices) slices_.add(reference_values_, candidate_values_, reference.dims);
  if (has_rows) add_rows(reference.dims);
  if (threshold_) add_decisions(reference.dims);
}

// Counts decisions both ways, per value and per pair: whether two columns are one decision is known only
// after the last row.
void OutputMeter::add_decisions(const data::Dims& dims) {
  const auto is_flip = [this](float reference, float candidate) {
    return (reference >= *threshold_) != (candidate >= *threshold_) ? 1U : 0U;
  };
  for (std::size_t i = 0; i < reference_values_.size(); ++i)
    flips_ += is_flip(reference_values_[i], candidate_values_[i]);
  decisions_ += reference_values_.size();
  if (!are_pairs_) return;
  are_pairs_ = class_axis_ && dims.size() == output_.shape.size() && dims[*class_axis_] == 2;
  if (!are_pairs_) return;
  const data::ClassRows reference(reference_values_, dims, *class_axis_),
      candidate(candidate_values_, dims, *class_axis_);
  for (std::size_t row = 0; row < reference.rows() && are_pairs_; ++row) {
    const float no = reference.score(row, 0), yes = reference.score(row, 1);
    are_pairs_ =
        std::min(no, yes) >= -kPairRounding && std::fabs(static_cast<double>(no) + yes - 1) <= kPairRounding;
    pair_flips_ += is_flip(yes, candidate.score(row, 1));
  }
  pairs_ += reference.rows();
}

void OutputMeter::add_rows(const data::Dims& dims) {
  const data::ClassRows reference(reference_values_, dims, *class_axis_),
      candidate(candidate_values_, dims, *class_axis_);
  classes_ = reference.classes();
  for (std::size_t row = 0; row < reference.rows(); ++row) {
    ++rows_;
    if (classes_ <= data::kTop) {
      add_answer(reference.best(row), candidate.best(row));
      continue;
    }
    reference.best(row, data::kTop, reference_best_);
    candidate.best(row, data::kTop, candidate_best_);
    add_answer(reference_best_[0], candidate_best_[0]);
    std::size_t shared = 0;
    for (const std::size_t of_class : candidate_best_) {
      shared +=
          static_cast<std::size_t>(std::count(reference_best_.begin(), reference_best_.end(), of_class));
    }
    shared_of_five_ += static_cast<double>(shared) / data::kTop;
  }
}

void OutputMeter::add_answer(std::size_t reference, std::size_t candidate) {
  if (reference == candidate) {
    ++same_best_;
  } else {
    note_changed(reference, candidate);
  }
}

// Counts a changed prediction. The number of different pairs is limited: a vocabulary has billions of them.
void OutputMeter::note_changed(std::size_t reference, std::size_t candidate) {
  const auto known = changed_.find({reference, candidate});
  if (known != changed_.end()) {
    ++known->second;
  } else if (changed_.size() < kMostPairs) {
    changed_[{reference, candidate}] = 1;
  }
}

std::vector<ChangedAnswer> OutputMeter::changed_answers() const {
  std::vector<ChangedAnswer> all;
  for (const auto& [pair, count] : changed_) all.push_back({pair.first, pair.second, count});
  std::stable_sort(all.begin(), all.end(),
                   [](const ChangedAnswer& a, const ChangedAnswer& b) { return a.count > b.count; });
  if (all.size() > OutputComparison::kMostChanged) all.resize(OutputComparison::kMostChanged);
  return all;
}

// NaN if all samples are silent. Infinite only if all values are equal, in silent samples, too.
double OutputMeter::sqnr_db() const {
  const double decibels = for_sqnr_.sqnr_db();
  const bool has_silent = for_sqnr_.values != difference_.values;
  const bool is_unknown = has_silent && difference_.largest != 0 && std::isinf(decibels) && decibels > 0;
  return is_unknown ? std::numeric_limits<double>::quiet_NaN() : decibels;
}

OutputComparison OutputMeter::result() const {
  OutputComparison result;
  result.name = output_.name;
  result.type = name_of(output_.given());
  result.is_label = is_label_;
  result.values = difference_.values;
  result.silent_values = difference_.values - for_sqnr_.values;
  result.sqnr_db = sqnr_db();
  if (!is_label_) {
    result.max_abs_diff = difference_.largest;
    result.mean_abs_diff = difference_.mean_abs();
    result.mse = difference_.values == 0 ? 0 : difference_.squared / static_cast<double>(difference_.values);
    const bool is_silent = for_sqnr_.values == 0 && difference_.values != 0;
    result.cosine = is_silent ? std::numeric_limits<double>::quiet_NaN() : for_sqnr_.cosine();
  }
  if (rows_ != 0) {
    const auto rows = static_cast<double>(rows_);
    result.answers = rows_;
    result.changed = rows_ - same_best_;
    result.top1_agreement = static_cast<double>(same_best_) / rows;
    result.changed_answers = changed_answers();
    if (classes_ > data::kTop) result.top5_agreement = shared_of_five_ / rows;
  }
  if (threshold_ && !is_label_) result.flips = flips();
  result.decisions = decisions();
  result.reference_not_finite = difference_.reference_not_finite;
  result.candidate_not_finite = difference_.candidate_not_finite;
  result.newly_not_finite = difference_.newly_not_finite;
  result.slices = slices_.slices(output_.name);
  return result;
}

namespace {

double deviation_of(double distance) {
  return std::isfinite(distance) ? std::max(distance, 0.0) / kDeviationsOf95 : 0;
}

}  // namespace

void OutputEvidence::add(const OutputMeter& meter) {
  const Difference &now = meter.difference(), &loud = meter.for_sqnr();
  const auto values = static_cast<double>(now.values - before_.values);
  energy_.add(loud.reference - loud_before_.reference, loud.squared - loud_before_.squared,
              static_cast<double>(loud.values - loud_before_.values));
  distance_.add(now.absolute - before_.absolute, 0, values);
  squares_.add(now.squared - before_.squared, 0, values);
  before_ = now;
  loud_before_ = loud;
  others_.add(static_cast<double>(meter.other_answers() - other_answers_),
              static_cast<double>(meter.answers() - answers_));
  answers_ = meter.answers();
  other_answers_ = meter.other_answers();
  const OutputMeter::Decisions decisions = meter.all_decisions();
  flips_.add(static_cast<double>(decisions.flips - decisions_.flips),
             static_cast<double>(decisions.of - decisions_.of));
  pair_flips_.add(static_cast<double>(decisions.pair_flips - decisions_.pair_flips),
                  static_cast<double>(decisions.pairs - decisions_.pairs));
  decisions_ = decisions;
  decides_by_pairs_ = meter.decides_by_pairs();
  ++samples_;
}

void OutputEvidence::fill(OutputComparison& output) const {
  if (samples_ == 0) return;
  const Interval decibel = energy_.difference([](double energy) { return 10 * std::log10(energy); });
  output.sqnr_deviation_db = deviation_of(output.sqnr_db - decibel.low);
  const Interval distance = distance_.difference([](double mean) { return mean; });
  output.mean_abs_deviation = deviation_of(distance.high - output.mean_abs_diff);
  const Interval squares = squares_.difference([](double mean) { return mean; });
  output.mse_deviation = deviation_of(squares.high - output.mse);
  output.other_answers = others_.tally();
  output.other_decisions = (decides_by_pairs_ ? pair_flips_ : flips_).tally();
}

}  // namespace ounce::evaluate
