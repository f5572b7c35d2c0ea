// Metrics of segmentation (a class for each pixel): mean intersection over union of the classes.
#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

constexpr std::size_t kMostAreas = 256;  // classes
constexpr std::int64_t kLeftOut = 255;   // the usual ignore label; negative labels are ignored, too

// Pixels of each class in the truth, in the prediction, and in both.
struct Areas {
  explicit Areas(std::size_t classes) : truth(classes), answer(classes), both(classes) {}
  std::vector<double> truth, answer, both;
};

class SegmentationMeter : public Meter {
 public:
  SegmentationMeter(std::size_t output, std::optional<double> threshold)
      : output_(output), threshold_(threshold) {}

  void add(const Sample& sample) override {
    const std::vector<std::size_t> ours = pixels_of(sample.reference[output_], sample.where),
                                   theirs = pixels_of(sample.candidate[output_], sample.where);
    std::vector<std::int64_t> truth(ours.begin(), ours.end());
    if (sample.label != nullptr) {
      const std::vector<double> label = data::to_doubles(*sample.label, sample.where);
      if (label.size() != ours.size())
        throw Error(
            ErrorCode::kBadInput,
            fmt::format("the sample has {} labels, but the output has {} pixels", label.size(), ours.size()),
            sample.where);
      std::transform(label.begin(), label.end(), truth.begin(),
                     [](double value) { return static_cast<std::int64_t>(value); });
    }
    SumsOf reference(classes_), candidate(classes_);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] < 0 || (sample.label != nullptr && truth[i] == kLeftOut)) continue;
      if (truth[i] >= static_cast<std::int64_t>(classes_))
        throw Error(ErrorCode::kBadInput,
                    fmt::format("the label {} is not one of the {} classes", truth[i], classes_),
                    sample.where);
      const auto of_class = static_cast<std::size_t>(truth[i]);
      reference.add(of_class, ours[i]);
      candidate.add(of_class, theirs[i]);
    }
    pixels_.add({reference.right, reference.all}, {candidate.right, candidate.all});
    areas_.add(reference.flat(), candidate.flat());
  }

  std::vector<MetricResult> results() const override {
    return {areas_.result("mean_iou", true, MetricUnit::kShare, mean_overlap),
            pixels_.mean("pixel_accuracy", true, MetricUnit::kShare)};
  }

 private:
  struct SumsOf {
    explicit SumsOf(std::size_t classes) : areas(classes) {}
    Areas areas;
    double right = 0, all = 0;

    void add(std::size_t truth, std::size_t answer) {
      ++areas.truth[truth];
      ++areas.answer[answer];
      if (truth == answer) ++areas.both[truth];
      right += truth == answer ? 1 : 0;
      ++all;
    }
    std::vector<double> flat() const {
      std::vector<double> sums = areas.truth;
      sums.insert(sums.end(), areas.answer.begin(), areas.answer.end());
      sums.insert(sums.end(), areas.both.begin(), areas.both.end());
      return sums;
    }
  };

  // The mean over the classes that occur in the truth or in the predictions.
  static double mean_overlap(std::span<const double> sums) {
    double total = 0, occurring = 0;
    const std::size_t classes = sums.size() / 3;
    for (std::size_t i = 0; i < classes; ++i) {
      const double truth = sums[i], answer = sums[classes + i], both = sums[2 * classes + i];
      if (truth + answer == 0) continue;
      total += both / (truth + answer - both);
      ++occurring;
    }
    return occurring == 0 ? std::nan("") : total / occurring;
  }

  // The class of each pixel: a class number, the best of several scores, or one score compared with a
  // threshold.
  std::vector<std::size_t> pixels_of(const data::TensorView& view, const std::string& where) {
    const data::Dims& dims = view.dims;
    std::vector<std::size_t> pixels;
    if (!is_float_weight_type(view.type)) {
      classes_ = kMostAreas;
      for (const double value : data::to_doubles(view, where))
        pixels.push_back(static_cast<std::size_t>(std::clamp(value, 0.0, kMostAreas - 1.0)));
      return pixels;
    }
    std::vector<float> floats;
    const auto values = data::floats_of(view, floats, where);
    // The class axis is the second or the last one: there are fewer classes than rows.
    const std::size_t axis = dims.size() == 4 && dims[3] < dims[1] ? 3 : 1;
    if (dims.size() == 4 && dims[axis] > 1) {
      classes_ = static_cast<std::size_t>(dims[axis]);
      if (classes_ > kMostAreas)
        throw Error(ErrorCode::kUsage,
                    fmt::format("`task=segment` supports up to {} classes, but the output is {}", kMostAreas,
                                data::describe(view.type, dims)),
                    where);
      const data::ClassRows rows(values, dims, axis);
      for (std::size_t row = 0; row < rows.rows(); ++row) pixels.push_back(rows.best(row));
      return pixels;
    }
    classes_ = 2;
    if (!threshold_) {  // for scores outside 0 … 1 (logits) the threshold is 0
      const bool is_share = std::all_of(values.begin(), values.end(),
                                        [](float value) { return value >= 0 && value <= 1.001F; });
      threshold_ = is_share ? 0.5 : 0;
    }
    for (const float value : values) pixels.push_back(value >= *threshold_ ? 1 : 0);
    return pixels;
  }

  std::size_t output_, classes_ = 0;
  std::optional<double> threshold_;
  SampleSums areas_, pixels_;
};

}  // namespace

std::unique_ptr<Meter> make_segmentation(const MeterSettings& settings) {
  return std::make_unique<SegmentationMeter>(settings.output, settings.threshold);
}

}  // namespace ounce::evaluate
