#include "evaluate/compare/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

using Sums = SliceMeter::Sums;

constexpr std::int64_t kLongestAxis = 256;
constexpr std::uint64_t kFewValues = 16;  // an index with fewer values has no reliable scale
constexpr double kOtherScale = 10;        // ratio between scales that separates two groups
constexpr double kSilent = 1e-6;          // relative to the group of largest scale: only rounding errors
constexpr double kNeverYes = 0.05;        // scores that never exceed this detect nothing
constexpr double kDense = 0.5;    // RMS over peak of scores that are nearly always present, as a background
constexpr std::size_t kFew = 16;  // groups smaller than this fraction of the axis are ignored without scores
constexpr std::size_t kNamedRanges = 3;
constexpr std::size_t kSliceReplicas = kReplicas / 4;  // fewer, because each keeps the sums of every index

struct SliceGroup {
  std::vector<std::size_t> indices;
  Sums sums;
  bool is_score = false;

  void add(std::size_t index, const Sums& more) {
    indices.push_back(index);
    sums.add(more);
  }
  void add(const SliceGroup& other) {
    indices.insert(indices.end(), other.indices.begin(), other.indices.end());
    sums.add(other.sums);
    is_score = is_score && other.is_score;
  }
  double peak() const { return std::max(std::fabs(sums.low), std::fabs(sums.high)); }
  bool is_dense() const { return sums.rms() >= kDense * peak(); }
};

// Sorts the indices of one kind (scores or not) by scale, largest first, and cuts the list where the scale
// falls by `least_fall`. Scores are cut only after a dense group (a background, boxes from 0 to 1), because
// rare classes have a small scale, too.
std::vector<SliceGroup> cut_by_scale(const std::vector<Sums>& axis, bool of_scores, double least_fall) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (axis[i].reference > 0 && axis[i].is_score() == of_scores) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return axis[a].rms() > axis[b].rms(); });
  std::vector<SliceGroup> groups;
  double last = 0;
  for (const std::size_t index : order) {
    const double scale = axis[index].rms();
    const bool falls =
        groups.empty() || (last >= least_fall * scale && (!of_scores || groups.back().is_dense()));
    if (falls) groups.emplace_back().is_score = of_scores;
    groups.back().add(index, axis[index]);
    last = scale;
  }
  return groups;
}

// Merges groups of scores into groups of similar scale, and drops groups that are only noise.
std::vector<SliceGroup> find_groups(const std::vector<Sums>& axis) {
  std::vector<SliceGroup> groups = cut_by_scale(axis, false, kOtherScale);
  const bool has_others = !groups.empty();
  for (SliceGroup& scores : cut_by_scale(axis, true, kOtherScale)) {
    const bool says_something = scores.peak() >= kNeverYes;
    const auto alike = std::find_if(groups.begin(), groups.end(), [&](const SliceGroup& group) {
      const double ratio = group.sums.rms() / scores.sums.rms();
      return !group.is_score && ratio < kOtherScale && ratio > 1 / kOtherScale;
    });
    if (alike != groups.end()) {
      alike->add(scores);
    } else if (!says_something && !groups.empty() && groups.back().is_score) {
      groups.back().add(scores);
    } else if (says_something || !has_others) {
      groups.push_back(std::move(scores));
    }
  }
  double loudest = 0;
  bool has_scores = false;
  for (const SliceGroup& group : groups) {
    loudest = std::max(loudest, group.sums.rms());
    has_scores |= group.is_score;
  }
  std::erase_if(groups, [&](const SliceGroup& group) {
    const double scale = group.sums.rms();
    const bool is_one_of_many = !has_scores && scale < loudest && group.indices.size() * kFew < axis.size();
    return scale < kSilent * loudest || is_one_of_many;
  });
  return groups;
}

// "4:84"; for several ranges, the first few joined by "+".
std::string ranges_text(const std::vector<IndexRange>& ranges) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), kNamedRanges); ++i) {
    text += i == 0 ? "" : "+";
    text += ranges[i].end == ranges[i].begin + 1 ? fmt::format("{}", ranges[i].begin)
                                                 : fmt::format("{}:{}", ranges[i].begin, ranges[i].end);
  }
  return text + (ranges.size() > kNamedRanges ? "+…" : "");
}

std::vector<IndexRange> ranges_of(std::vector<std::size_t> indices) {
  std::sort(indices.begin(), indices.end());
  std::vector<IndexRange> ranges;
  for (const std::size_t index : indices) {
    if (ranges.empty() || ranges.back().end != index) ranges.push_back({index, index});
    ++ranges.back().end;
  }
  return ranges;
}

OutputSlice slice_of(const SliceGroup& group, const std::string& output, std::size_t axis, std::size_t rank) {
  OutputSlice slice;
  slice.axis = axis;
  slice.ranges = ranges_of(group.indices);
  slice.values = group.sums.values;
  slice.rms = group.sums.rms();
  slice.sqnr_db = group.sums.squared == 0 ? std::numeric_limits<double>::infinity()
                                          : 10 * std::log10(group.sums.reference / group.sums.squared);
  std::string places;
  for (std::size_t i = 0; i < rank; ++i)
    places += fmt::format("{}{}", i == 0 ? "" : ", ", i == axis ? ranges_text(slice.ranges) : ":");
  slice.name = fmt::format("{}[{}]", output, places);
  return slice;
}

Sums sums_of(const float* reference, const float* candidate, std::size_t count) {
  Sums sums;
  sums.low = std::numeric_limits<float>::infinity();
  sums.high = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const double x = reference[i], d = x - candidate[i];
    if (!std::isfinite(d)) continue;
    ++sums.values;
    sums.reference += x * x;
    sums.squared += d * d;
    sums.low = std::min(sums.low, reference[i]);
    sums.high = std::max(sums.high, reference[i]);
  }
  return sums;
}

}  // namespace

void SliceMeter::Sums::add(const Sums& other) {
  if (other.values == 0) return;
  low = values == 0 ? other.low : std::min(low, other.low);
  high = values == 0 ? other.high : std::max(high, other.high);
  values += other.values;
  reference += other.reference;
  squared += other.squared;
}

double SliceMeter::Sums::rms() const {
  return values == 0 ? 0 : std::sqrt(reference / static_cast<double>(values));
}

bool SliceMeter::Sums::is_score() const {
  constexpr float kRounding = 1e-3F;
  return low >= 0 && high <= 1 + kRounding;
}

void SliceMeter::add(std::span<const float> reference, std::span<const float> candidate,
                     const data::Dims& dims) {
  if (reference.empty()) return;
  if (axes_.empty()) {
    rank_ = dims.size();
    axes_.resize(std::max<std::size_t>(rank_, 1));
    // Vectors (rank 2) have no slices: a small logit among larger ones is not a separate kind of value.
    for (std::size_t axis = 1; rank_ > 2 && axis < rank_; ++axis) {
      if (dims[axis] >= 2 && dims[axis] <= kLongestAxis)
        axes_[axis].resize(static_cast<std::size_t>(dims[axis]));
    }
  }
  std::size_t inner = reference.size();
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    std::vector<Sums>& sums = axes_[axis];
    const std::size_t length = axis < dims.size() ? static_cast<std::size_t>(dims[axis]) : 1;
    if (dims.size() != rank_ || (!sums.empty() && sums.size() != length)) sums.clear();
    inner = reference.size();
    for (std::size_t i = 0; i <= axis && i < dims.size(); ++i) inner /= static_cast<std::size_t>(dims[i]);
    if (sums.empty()) continue;
    for (std::size_t at = 0, index = 0; at < reference.size(); at += inner, index = (index + 1) % length)
      add_to(axis, index, sums_of(&reference[at], &candidate[at], inner));
  }
}

void SliceMeter::add_to(std::size_t axis, std::size_t index, const Sums& more) {
  axes_[axis][index].add(more);
  replicas_.resize(axes_.size());
  std::vector<double>& pending = replicas_[axis].pending;
  pending.resize(2 * axes_[axis].size());
  pending[2 * index] += more.reference;
  pending[2 * index + 1] += more.squared;
}

void SliceMeter::end_sample() {
  std::array<std::uint8_t, kReplicas> weights{};
  draw_weights(samples_++, weights);
  for (Replicas& axis : replicas_) {
    const std::size_t width = axis.pending.size();
    if (width == 0) continue;
    axis.sums.resize(kSliceReplicas * width);
    for (std::size_t row = 0; row < kSliceReplicas; ++row) {
      if (weights[row] == 0) continue;
      double* const sums = &axis.sums[row * width];
      for (std::size_t i = 0; i < width; ++i) sums[i] += weights[row] * axis.pending[i];
    }
    std::fill(axis.pending.begin(), axis.pending.end(), 0);
  }
}

double SliceMeter::deviation_db(std::size_t axis, const OutputSlice& slice) const {
  if (axis >= replicas_.size() || !std::isfinite(slice.sqnr_db)) return 0;
  const std::size_t width = 2 * axes_[axis].size();
  const std::vector<double>& sums = replicas_[axis].sums;
  std::vector<double> decibels;
  for (std::size_t at = 0; at < sums.size(); at += width) {
    double reference = 0, squared = 0;
    for (const IndexRange& range : slice.ranges) {
      for (std::size_t index = range.begin; index < range.end; ++index) {
        reference += sums[at + 2 * index];
        squared += sums[at + 2 * index + 1];
      }
    }
    if (reference > 0 && squared > 0) decibels.push_back(10 * std::log10(reference / squared));
  }
  if (decibels.empty()) return 0;
  return std::max(0.0, slice.sqnr_db - middle(std::move(decibels)).low) / kDeviationsOf95;
}

std::vector<OutputSlice> SliceMeter::slices(const std::string& output) const {
  std::vector<OutputSlice> all;
  for (std::size_t axis = 1; axis < axes_.size(); ++axis) {
    const std::vector<Sums>& sums = axes_[axis];
    if (std::any_of(sums.begin(), sums.end(), [](const Sums& one) { return one.values < kFewValues; }))
      continue;
    const std::vector<SliceGroup> groups = find_groups(sums);
    if (groups.size() < 2) continue;
    for (const SliceGroup& group : groups) {
      all.push_back(slice_of(group, output, axis, rank_));
      all.back().sqnr_deviation_db = deviation_db(axis, all.back());
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const OutputSlice& a, const OutputSlice& b) { return a.sqnr_db < b.sqnr_db; });
  return all;
}

}  // namespace ounce::evaluate
