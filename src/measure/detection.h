// Mean average precision of boxes at IoU 0.5, of a reference and a candidate on the same images.
//
// An output with a last axis of 4 holds boxes (x1, y1, x2, y2), another with as many rows their scores by
// class. The label of an image is a list of boxes in the same coordinates: [k,5] with the class behind each,
// or [k,4] for class 0. Only classes that occur in labels count, which leaves out a background class. Boxes
// of one class that overlap by more than 0.5 are one detection, the one with the best score.
#pragma once

#include <ounce/verify.h>

#include <map>
#include <span>
#include <vector>

#include "data/tensor.h"

namespace ounce::measure {

struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
double overlap(const Box& a, const Box& b);  // intersection over union

class DetectionMeter {
 public:
  // Finds the two outputs. Throws Error{kUsage} when there are none, or several.
  DetectionMeter(const std::vector<data::ValueDescription>& outputs, double least_score);

  // The outputs of one image, and its boxes.
  void add(std::span<const data::TensorView> reference, std::span<const data::TensorView> candidate,
           const data::Tensor& label, const std::string& where);
  MetricResult result() const;

 private:
  struct Detection {
    std::size_t image;
    double score;
    bool is_right;
  };
  struct OfClass {
    std::vector<std::size_t> truths;  // by image
    std::vector<Detection> reference, candidate;
  };
  std::vector<Detection> detect(std::span<const data::TensorView> outputs, std::size_t of_class,
                                const std::vector<Box>& truths, const std::string& where) const;
  // Without weights every image counts once.
  double mean_precision(bool of_candidate, const std::vector<std::uint8_t>& weights) const;

  std::size_t boxes_ = 0, scores_ = 0;
  double least_score_;
  std::size_t images_ = 0;
  std::map<std::size_t, OfClass> classes_;
};

}  // namespace ounce::measure
