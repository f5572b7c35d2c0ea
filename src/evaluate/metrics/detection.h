// Mean average precision (mAP) of boxes at IoU 0.5 and averaged over 0.5 … 0.95, for a reference and a
// candidate on the same images.
//
// The label of an image is a list of boxes: [k,5] with x1, y1, x2, y2, class, or [k,4] for class 0.
// Coordinates may be pixels or relative (0 to 1), independently of the outputs' (see DetectionLayout). Only
// classes that occur in labels count, which excludes a background class. Without a label, the reference's
// boxes with a high score are the truth. Boxes of one class that overlap by more than 0.5 are one detection,
// with the highest score.
//
// If no image has an object, precision is undefined. Then the metric uses the images in which either model
// detects an object with a score of 0.25 or more: it is the share of these images in which the model detects
// none. If there are no such images, nothing is measured (MetricResult::why_not).
#pragma once

#include <ounce/verify.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"

namespace ounce::evaluate {

inline constexpr double kLeastScore = 0.05;  // default score threshold of detections

struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
double overlap(const Box& a, const Box& b);  // intersection over union

struct ScoredBox {
  Box box;
  double score = 0;
  std::size_t of_class = 0;
};

// Finds boxes, scores and classes in the outputs of a detector. Known layouts:
//
//   apart    boxes [..,n,4] and scores [..,n,c] or [..,n]                         SSD and similar
//   listed   boxes [..,n,4], scores [..,n], classes [..,n]                        with built-in NMS
//   rows     [1,n,5+c]  cx cy w h, objectness, c scores                           YOLOv5
//            [1,4+c,n]  transposed, without objectness; more rows may follow      YOLOv8
//            [1,n,6]    x1 y1 x2 y2, score, class                                 YOLOv10, with built-in NMS
//            [n,7]      image, x1 y1 x2 y2, class, score                          YOLOv7 with built-in NMS
//
// Properties that do not follow from the shapes (centers or corners, logits or probabilities) are determined
// from the reference's outputs for the first image.
class DetectionLayout {
 public:
  // Throws Error{kUsage} if no output can have boxes.
  explicit DetectionLayout(const std::vector<data::ValueDescription>& outputs);

  // Determines the remaining properties from the reference's outputs for one image.
  void settle(std::span<const data::TensorView> outputs, const std::string& where);
  bool is_settled() const { return is_settled_; }

  // Returns all boxes with a score of at least `least`.
  std::vector<ScoredBox> read(std::span<const data::TensorView> outputs, double least,
                              const std::string& where) const;
  // The number of classes, if the outputs show it.
  std::optional<std::size_t> classes(std::span<const data::TensorView> outputs,
                                     const std::string& where) const;
  std::optional<std::size_t> background() const { return background_; }  // a class that means no object
  bool is_normalised() const { return is_normalised_; }                  // coordinates from 0 to 1

 private:
  enum class Kind { kApart, kListed, kWithObject, kTurned, kListedRows, kNumberedRows };
  void find_background(const std::vector<ScoredBox>& all);
  void settle_rows(const data::TensorView& rows, const std::string& where);
  std::vector<ScoredBox> read_rows(const data::TensorView& rows, double least,
                                   const std::string& where) const;

  std::size_t boxes_ = 0, scores_ = 0, classes_ = 0;
  Kind kind_ = Kind::kApart;
  bool is_settled_ = false, is_one_output_ = false;
  bool has_centres_ = false, has_logits_ = false, is_normalised_ = false;
  std::size_t class_count_ = 0;  // in layout `rows`
  std::optional<std::size_t> background_;
};

class DetectionMeter : public Meter {
 public:
  // Finds the outputs. Throws Error{kUsage} if there are none or several candidates.
  DetectionMeter(const std::vector<data::ValueDescription>& outputs, double least_score);

  // Adds the outputs of one image and its label.
  void add(const Sample& sample) override;
  std::vector<MetricResult> results() const override;
  bool was_silent() const override { return was_silent_; }

  static constexpr std::size_t kLimits = 10;  // thresholds of the overlap: 0.5, 0.55 … 0.95

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
  // Empty weights count every image once.
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
