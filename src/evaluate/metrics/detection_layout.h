// Where boxes, scores and classes stand in the outputs of a detector:
//
//   apart    boxes [..,n,4] and scores [..,n,c] or [..,n]                          as SSD and its kin
//   listed   boxes [..,n,4], scores [..,n], classes [..,n]                         with NMS inside
//   rows     [1,n,5+c]  cx cy w h, is there anything, c scores                     as YOLOv5
//            [1,4+c,n]  the same turned round, without the fifth; more may follow  as YOLOv8
//            [1,n,6]    x1 y1 x2 y2, score, class                                  as YOLOv10, and with NMS
//            inside [n,7]      picture, x1 y1 x2 y2, class, score                         as YOLOv7 with NMS
//            inside
//
// What the shapes do not tell (centres or corners, logits or shares) is seen in what the reference gives for
// its first picture, and stays so.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
double overlap(const Box& a, const Box& b);  // intersection over union

struct ScoredBox {
  Box box;
  double score = 0;
  std::size_t of_class = 0;
};

class DetectionLayout {
 public:
  // Throws Error{kUsage} when no outputs can be boxes.
  explicit DetectionLayout(const std::vector<data::ValueDescription>& outputs);

  // Looks at what the reference gives for one picture.
  void settle(std::span<const data::TensorView> outputs, const std::string& where);
  bool is_settled() const { return is_settled_; }

  // All boxes whose score is at least that.
  std::vector<ScoredBox> read(std::span<const data::TensorView> outputs, double least,
                              const std::string& where) const;
  // How many classes there are; nothing when the outputs do not say.
  std::optional<std::size_t> classes(std::span<const data::TensorView> outputs,
                                     const std::string& where) const;
  std::optional<std::size_t> background() const { return background_; }  // a class that is none
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
  std::size_t class_count_ = 0;  // of rows
  std::optional<std::size_t> background_;
};

}  // namespace ounce::evaluate
