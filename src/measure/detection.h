// Mean average precision of boxes at IoU 0.5 and over 0.5 … 0.95, of a reference and a candidate on the same
// images.
//
// The label of an image is a list of boxes in the coordinates of the outputs (x1, y1, x2, y2;
// detection_layout.h knows where outputs hold them), or from 0 to 1 where those are pixels, or the other way
// round: [k,5] with the class behind each, or [k,4] for class 0. Only classes that occur in labels count,
// which leaves out a background class. Without a label, what the reference is sure of is what there is. Boxes
// of one class that overlap by more than 0.5 are one detection, the one with the best score.
#pragma once

#include <ounce/verify.h>

#include <array>
#include <map>
#include <span>
#include <vector>

#include "data/tensor.h"
#include "measure/detection_layout.h"
#include "measure/task.h"

namespace ounce::measure {

inline constexpr double kLeastScore = 0.05;  // of a detection, unless a threshold is given

class DetectionMeter : public TaskMeter {
 public:
  // Finds the outputs. Throws Error{kUsage} when there are none, or several.
  DetectionMeter(const std::vector<data::ValueDescription>& outputs, double least_score);

  // The outputs of one image, and its boxes.
  void add(std::span<const data::TensorView> reference, std::span<const data::TensorView> candidate,
           const data::Tensor* label, const std::string& where);
  void add(const TaskSample& sample) override;
  // Of the model's input, to compare pixels with shares.
  void set_picture(double width, double height) { width_ = width, height_ = height; }
  std::vector<MetricResult> results() const override;

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
  using Truths = std::map<std::size_t, std::vector<Box>>;  // by class
  Truths truths_of(const std::vector<ScoredBox>& reference, const data::Tensor* label,
                   std::span<const data::TensorView> outputs, const std::string& where) const;
  std::vector<Detection> hold_against(const std::vector<ScoredBox>& kept,
                                      const std::vector<Box>& truths) const;
  // Without weights every image counts once.
  double mean_precision(bool of_candidate, std::size_t limit, const std::vector<std::uint8_t>& weights) const;
  MetricResult result(const char* name, std::size_t limits, std::size_t rounds) const;

  DetectionLayout layout_;
  double least_score_, width_ = 0, height_ = 0;
  std::size_t images_ = 0;
  std::map<std::size_t, OfClass> classes_;
};

}  // namespace ounce::measure
