// Metric of embeddings: the share of samples whose nearest neighbors among the other samples are unchanged.
// The vectors of all samples are kept in memory, up to a limit.
#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

constexpr std::size_t kMostVectors = 4000;                        // all pairs are compared
constexpr std::size_t kMostVectorBytes = std::size_t{256} << 20;  // per model
constexpr std::size_t kNeighbours = 10;
constexpr double kAsNear = 1e-6;  // cosine similarities this close are equal

std::vector<float> unit(std::span<const float> values) {
  double square = 0;
  for (const float value : values) square += static_cast<double>(value) * value;
  const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
  std::vector<float> vector;
  vector.reserve(values.size());
  for (const float value : values) vector.push_back(static_cast<float>(value * scale));
  return vector;
}

double cosine_of(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0;
  for (std::size_t i = 0; i < a.size(); ++i) dot += static_cast<double>(a[i]) * b[i];
  return dot;
}

using Vectors = std::vector<std::vector<float>>;

// The similarities to all other vectors; minus infinity to itself.
std::vector<double> nearness(const Vectors& vectors, std::size_t of) {
  std::vector<double> near;
  for (std::size_t i = 0; i < vectors.size(); ++i)
    near.push_back(i == of ? -std::numeric_limits<double>::infinity() : cosine_of(vectors[of], vectors[i]));
  return near;
}

std::vector<std::size_t> nearest(const std::vector<double>& near, std::size_t count) {
  std::vector<std::size_t> order(near.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](std::size_t a, std::size_t b) { return near[a] != near[b] ? near[a] > near[b] : a < b; });
  order.resize(count);
  return order;
}

class NeighborMeter : public Meter {
 public:
  explicit NeighborMeter(std::size_t output) : output_(output) {}

  void add(const Sample& sample) override {
    std::vector<float> floats;
    std::vector<float> ours = unit(data::floats_of(sample.reference[output_], floats, sample.where));
    std::vector<float> theirs = unit(data::floats_of(sample.candidate[output_], floats, sample.where));
    if (!reference_.empty() && reference_.front().size() != ours.size())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("an embedding has {} numbers, but earlier ones have {}: `task=embed` needs one "
                              "vector of fixed length per sample; choose another output with `label_output`",
                              ours.size(), reference_.front().size()),
                  sample.where);
    cosines_.add({1, 1}, {cosine_of(ours, theirs) + (ours == theirs ? 1 - cosine_of(ours, ours) : 0), 1});
    if (reference_.size() >= kMostVectors ||
        reference_.size() * ours.size() * sizeof(float) > kMostVectorBytes)
      return;
    reference_.push_back(std::move(ours));
    candidate_.push_back(std::move(theirs));
    labels_.push_back(label_of(sample));
  }

  std::vector<MetricResult> results() const override {
    std::vector<MetricResult> all;
    if (reference_.size() > 2) {
      const bool has_labels =
          std::all_of(labels_.begin(), labels_.end(), [](double label) { return !std::isnan(label); });
      SampleSums first, several, same_label;
      const std::size_t count = std::min(kNeighbours, reference_.size() - 1);
      for (std::size_t i = 0; i < reference_.size(); ++i) {
        const std::vector<double> near = nearness(reference_, i);
        const std::vector<std::size_t> ours = nearest(near, count),
                                       theirs = nearest(nearness(candidate_, i), count);
        const auto kept = [&](std::size_t among) {
          return static_cast<double>(
              std::count_if(theirs.begin(), theirs.begin() + static_cast<std::ptrdiff_t>(among),
                            [&](std::size_t k) { return near[k] >= near[ours[among - 1]] - kAsNear; }));
        };
        const auto all_of = static_cast<double>(count);
        first.add({1, 1}, {kept(1), 1});
        several.add({all_of, all_of}, {kept(count), all_of});
        same_label.add({labels_[ours[0]] == labels_[i] ? 1.0 : 0.0, 1},
                       {labels_[theirs[0]] == labels_[i] ? 1.0 : 0.0, 1});
      }
      if (has_labels) all.push_back(same_label.mean("neighbour_accuracy", true, MetricUnit::kShare));
      all.push_back(first.mean("recall_at_1", true, MetricUnit::kShare));
      all.push_back(several.mean(fmt::format("recall_at_{}", count), true, MetricUnit::kShare));
    }
    all.push_back(cosines_.mean("cosine", true, MetricUnit::kShare));
    return all;
  }

 private:
  // The class of a sample; NaN without a label.
  static double label_of(const Sample& sample) {
    if (sample.label == nullptr) return std::nan("");
    const std::vector<double> values = data::to_doubles(*sample.label, sample.where);
    return values.size() == 1 ? values[0] : std::nan("");
  }

  std::size_t output_;
  Vectors reference_, candidate_;
  std::vector<double> labels_;
  SampleSums cosines_;
};

}  // namespace

std::unique_ptr<Meter> make_neighbors(const MeterSettings& settings) {
  return std::make_unique<NeighborMeter>(settings.output);
}

}  // namespace ounce::evaluate
