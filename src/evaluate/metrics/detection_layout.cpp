#include "evaluate/metrics/detection.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/tensor.h"

namespace ounce::evaluate {
namespace {

constexpr std::size_t kMostListed = 1000;  // most rows after NMS
constexpr double kTurnedOver = 0.2;  // if more boxes have x2 < x1 or y2 < y1, they are centers and sizes
constexpr std::size_t kManyBoxes = 50;
constexpr double kSure = 0.5;
constexpr double kLargestShare = 2;  // largest relative coordinate: boxes may extend beyond the image

std::size_t rows_of(const data::Dims& dims) {
  return dims.size() < 2 ? 0 : static_cast<std::size_t>(dims[dims.size() - 2]);
}

// Scores are [..,rows,classes], or [..,rows] for one class. There may be no rows.
std::size_t classes_of(const data::TensorView& boxes, const data::TensorView& scores,
                       const std::string& where) {
  const std::size_t rows = rows_of(boxes.dims);
  if (rows != 0) return data::element_count(scores.dims, where) / rows;
  return scores.dims.size() < boxes.dims.size() ? 1 : static_cast<std::size_t>(scores.dims.back());
}

Box from_centre(double x, double y, double width, double height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

double share_of_logit(double value) { return 1 / (1 + std::exp(-value)); }

// An output as a table of boxes, transposed or not.
struct RowTable {
  RowTable(const data::TensorView& view, bool stands_turned, const std::string& where)
      : floats(data::floats_of(view, converted, where)), is_turned(stands_turned) {
    const auto before = rows_of(view.dims), last = static_cast<std::size_t>(view.dims.back());
    rows = is_turned ? last : before;
    columns = is_turned ? before : last;
  }
  double at(std::size_t row, std::size_t column) const {
    return is_turned ? floats[column * rows + row] : floats[row * columns + column];
  }
  template <class Holds>
  bool all_of(std::size_t column, Holds&& holds) const {
    for (std::size_t row = 0; row < rows; ++row) {
      if (!holds(at(row, column))) return false;
    }
    return true;
  }

  std::vector<float> converted;
  std::span<const float> floats;
  bool is_turned;
  std::size_t rows = 0, columns = 0;
};

bool is_share(double value) { return value >= 0 && value <= 1.001; }
bool is_whole(double value) { return value >= 0 && value == std::floor(value); }

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1),
               height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  return shared / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - shared);
}

DetectionLayout::DetectionLayout(const std::vector<data::ValueDescription>& outputs) {
  std::vector<std::size_t> boxes, others, tables, scores, classes;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t rank = outputs[i].shape.size();
    const bool is_boxes = rank >= 2 && rank <= 3 && outputs[i].shape.back().value == 4;
    (is_boxes ? boxes : others).push_back(i);
    if (is_boxes) continue;
    const bool has_room =
        rank >= 2 && (outputs[i].shape.back().value < 0 || outputs[i].shape.back().value > 5);
    if (has_room && rank <= 3 && is_float_weight_type(outputs[i].element)) tables.push_back(i);
    if (has_word(outputs[i].name, {"class", "label"}) || !is_float_weight_type(outputs[i].element))
      classes.push_back(i);
    else if (has_word(outputs[i].name, {"score", "conf", "prob"}))
      scores.push_back(i);
  }
  std::erase_if(classes, [&](std::size_t i) { return has_word(outputs[i].name, {"num", "count"}); });
  if (boxes.size() == 1 && others.size() == 1) {
    boxes_ = boxes[0];
    scores_ = others[0];
  } else if (boxes.size() == 1 && scores.size() == 1 && classes.size() == 1) {
    kind_ = Kind::kListed;
    boxes_ = boxes[0];
    scores_ = scores[0];
    classes_ = classes[0];
  } else if (boxes.empty() && tables.size() == 1) {
    is_one_output_ = true;
    boxes_ = tables[0];
  } else {
    throw Error(ErrorCode::kUsage,
                fmt::format("detection needs an output [..,4] and one with scores, or one output with a row "
                            "for each box; of {} outputs {} could be boxes",
                            outputs.size(), boxes.size() + tables.size()));
  }
}

void DetectionLayout::settle(std::span<const data::TensorView> outputs, const std::string& where) {
  if (is_one_output_) settle_rows(outputs[boxes_], where);
  std::vector<ScoredBox> all = read(outputs, -1, where);
  is_settled_ = !all.empty();  // without boxes, the next image decides
  const auto wrong = std::count_if(all.begin(), all.end(), [](const ScoredBox& one) {
    return one.box.x2 < one.box.x1 || one.box.y2 < one.box.y1;
  });
  if (!is_one_output_ && static_cast<double>(wrong) > kTurnedOver * static_cast<double>(all.size())) {
    has_centres_ = true;
    all = read(outputs, -1, where);
  }
  find_background(all);
  is_normalised_ = !all.empty() && std::all_of(all.begin(), all.end(), [](const ScoredBox& one) {
    return std::fabs(one.box.x2) <= kLargestShare && std::fabs(one.box.y2) <= kLargestShare;
  });
}

// A class that has a high score in most boxes is the background.
void DetectionLayout::find_background(const std::vector<ScoredBox>& all) {
  if (kind_ != Kind::kApart || is_one_output_) return;
  std::map<std::size_t, std::pair<std::size_t, std::size_t>>
      classes;  // number of boxes, and of those with a high score
  for (const ScoredBox& one : all) {
    ++classes[one.of_class].first;
    if (one.score > kSure) ++classes[one.of_class].second;
  }
  for (const auto& [of_class, counts] : classes) {
    if (classes.size() > 1 && counts.first >= kManyBoxes && 2 * counts.second > counts.first)
      background_ = of_class;
  }
}

void DetectionLayout::settle_rows(const data::TensorView& view, const std::string& where) {
  if (view.dims.size() < 2 || std::min(view.dims.back(), view.dims[view.dims.size() - 2]) < 0)
    throw Error(ErrorCode::kUsage, "`task=detect` needs a table of boxes, but the output has another shape",
                where);
  const auto before = rows_of(view.dims), last = static_cast<std::size_t>(view.dims.back());
  const RowTable table(view, before >= 5 && before < last, where);
  const bool has_few = table.rows <= kMostListed;
  if (table.columns == 7 && has_few && table.all_of(0, is_whole) && table.all_of(5, is_whole)) {
    kind_ = Kind::kNumberedRows;
  } else if (table.columns == 6 && has_few && table.all_of(5, is_whole) && table.all_of(4, is_share)) {
    kind_ = Kind::kListedRows;
  } else {
    kind_ = table.is_turned ? Kind::kTurned : Kind::kWithObject;
    const std::size_t first = table.is_turned ? 4 : 5;
    if (table.columns <= first)
      throw Error(
          ErrorCode::kUsage,
          fmt::format("`task=detect` does not support boxes in {}", data::describe(view.type, view.dims)),
          where);
    has_logits_ = !table.all_of(first, is_share);
    class_count_ = 0;
    while (first + class_count_ < table.columns &&
           (has_logits_ || table.all_of(first + class_count_, is_share)))
      ++class_count_;
  }
}

std::vector<ScoredBox> DetectionLayout::read_rows(const data::TensorView& view, double least,
                                                  const std::string& where) const {
  const RowTable table(view, kind_ == Kind::kTurned, where);
  std::vector<ScoredBox> found;
  const auto share = [&](double value) { return has_logits_ ? share_of_logit(value) : value; };
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto value = [&](std::size_t column) { return table.at(row, column); };
    if (kind_ == Kind::kListedRows || kind_ == Kind::kNumberedRows) {
      const std::size_t first = kind_ == Kind::kListedRows ? 0 : 1;
      const double score = value(kind_ == Kind::kListedRows ? 4 : 6);
      const double of_class = value(5);
      if (score >= least && of_class >= 0)
        found.push_back({{value(first), value(first + 1), value(first + 2), value(first + 3)},
                         score,
                         static_cast<std::size_t>(of_class)});
      continue;
    }
    const bool has_object = kind_ == Kind::kWithObject;
    const double object = has_object ? share(value(4)) : 1;
    if (!(object >= least)) continue;
    for (std::size_t k = 0; k < class_count_; ++k) {
      const double score = object * share(value((has_object ? 5 : 4) + k));
      if (score >= least) found.push_back({from_centre(value(0), value(1), value(2), value(3)), score, k});
    }
  }
  return found;
}

std::vector<ScoredBox> DetectionLayout::read(std::span<const data::TensorView> outputs, double least,
                                             const std::string& where) const {
  if (is_one_output_) return read_rows(outputs[boxes_], least, where);
  std::vector<float> boxes, scores, classes;
  data::to_floats(outputs[boxes_], boxes, where);
  data::to_floats(outputs[scores_], scores, where);
  if (kind_ == Kind::kListed) data::to_floats(outputs[classes_], classes, where);
  const std::size_t rows = boxes.size() / 4;
  const std::size_t each = kind_ == Kind::kListed ? 1 : classes_of(outputs[boxes_], outputs[scores_], where);
  const bool is_listed = kind_ == Kind::kListed;
  if (is_listed ? scores.size() < rows || classes.size() < rows : scores.size() != rows * each)
    throw Error(ErrorCode::kBadInput,
                fmt::format("the numbers of boxes ({}) and scores ({}) differ", rows, scores.size()), where);
  std::vector<ScoredBox> found;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* at = &boxes[4 * row];
    const Box box = has_centres_ ? from_centre(at[0], at[1], at[2], at[3]) : Box{at[0], at[1], at[2], at[3]};
    for (std::size_t k = 0; k < each; ++k) {
      const double score = scores[row * each + k];
      if (!(score >= least)) continue;
      const std::size_t of_class =
          kind_ == Kind::kListed ? static_cast<std::size_t>(std::max(classes[row], 0.0F)) : k;
      found.push_back({box, score, of_class});
    }
  }
  return found;
}

std::optional<std::size_t> DetectionLayout::classes(std::span<const data::TensorView> outputs,
                                                    const std::string& where) const {
  if (kind_ == Kind::kApart && !is_one_output_) return classes_of(outputs[boxes_], outputs[scores_], where);
  if (kind_ == Kind::kTurned || kind_ == Kind::kWithObject) return class_count_;
  return std::nullopt;
}

}  // namespace ounce::evaluate
