// Mean average precision of boxes at IoU 0.5 and over 0.5 … 0.95, of a reference and a candidate on the same
// images.
//
// The label of an image is a list of boxes in the coordinates of the outputs (x1, y1, x2, y2;
// detection_layout.h knows where outputs hold them), or from 0 to 1 where those are pixels, or the other way
// round: [k,5] with the class behind each, or [k,4] for class 0. Only classes that occur in labels count,
// which leaves out a background class. Without a label, what the reference is sure of is what there is. Boxes
// of one class that overlap by more than 0.5 are one detection, the one with the best score.
//
// Where no image has an object, there is no precision of anything. Then images count in which a model detects
// one all the same, with a score of 0.25 or more: each model has the share of these images in which it does
// not. If there are none, nothing is measured (MetricResult::why_not).
#pragma once

#include <ounce/verify.h>

#include <array>
#include <map>
#include <span>
#include <vector>

#include "data/tensor.h"
#include "evaluate/metrics/detection_layout.h"
#include "evaluate/metrics/metric_info.h"

namespace ounce::evaluate {

inline constexpr double kLeastScore = 0.05;  // of a detection, unless a threshold is given

class DetectionMeter : public Meter {
 public:
  // Finds the outputs. Throws Error{kUsage} when there are none, or several.
  DetectionMeter(const std::vector<data::ValueDescription>& outputs, double least_score);

  // The outputs of one image, and its boxes.
  void add(const Sample& sample) override;
  std::vector<MetricResult> results() const override;
  bool was_silent() const override { return was_silent_; }

  static constexpr std::size_t kLimits = 10;  // of the overlap: 0.5, 0.55 … 0.95

 private:
  struct Detection {
    std::size_t image;
    double score;
    std::array<bool, kLimits> is_right;
  };
  struct OfClass {
    std::vector<std::size_t> truths;  // by image
    std::vector<Detection> reference, candidate;
  };
  struct FalseAlarm {  // in an image without objects
    std::size_t image;
    bool of_reference, of_candidate;
  };
  using Truths = std::map<std::size_t, std::vector<Box>>;  // by class
  Truths truths_of(const std::vector<ScoredBox>& reference, const data::Tensor* label,
                   std::span<const data::TensorView> outputs, const std::string& where) const;
  std::vector<Detection> hold_against(const std::vector<ScoredBox>& kept,
                                      const std::vector<Box>& truths) const;
  bool finds_nothing(const std::vector<ScoredBox>& found) const;
  bool is_sure(const std::vector<ScoredBox>& found) const;
  bool has_truths() const;
  double share_without_alarms(bool of_candidate, const std::vector<std::uint8_t>& weights) const;
  // Without weights every image counts once.
  double mean_precision(bool of_candidate, std::size_t limit, const std::vector<std::uint8_t>& weights) const;
  MetricResult result(const char* name, std::size_t limits, std::size_t rounds) const;

  DetectionLayout layout_;
  double least_score_, width_ = 0, height_ = 0;
  std::size_t images_ = 0;
  bool was_silent_ = false;
  std::vector<FalseAlarm> alarms_;
  std::map<std::size_t, OfClass> classes_;
};

}  // namespace ounce::evaluate
