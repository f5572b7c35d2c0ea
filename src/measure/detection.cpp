#include "measure/detection.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "data/convert.h"
#include "measure/paired_bootstrap.h"

namespace ounce::measure {
namespace {

constexpr double kSameBox = 0.5;
constexpr std::size_t kMostBoxes = 1000;  // of a class in an image, before overlaps are removed
constexpr std::size_t kRounds = 200;      // replicas: each sorts nothing, but walks all detections

struct Truth {
  std::size_t of_class;
  Box box;
};

std::vector<Truth> read_truths(const data::Tensor& label, const std::string& where) {
  const std::vector<double> values = data::to_doubles(label, where);
  if (values.empty()) return {};
  const std::size_t width = label.dims.empty() ? 0 : static_cast<std::size_t>(label.dims.back());
  if (label.dims.size() != 2 || (width != 4 && width != 5)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("boxes are rows of x1, y1, x2, y2 and perhaps the class, and the label is {}",
                            data::describe(label.type, label.dims)),
                where);
  }
  std::vector<Truth> truths;
  for (std::size_t i = 0; i < values.size(); i += width) {
    const double of_class = width == 5 ? values[i + 4] : 0;
    if (of_class < 0 || of_class > 1e6 || of_class != std::floor(of_class))
      throw Error(ErrorCode::kBadInput, fmt::format("{} is no class", of_class), where);
    truths.push_back(
        {static_cast<std::size_t>(of_class), {values[i], values[i + 1], values[i + 2], values[i + 3]}});
  }
  return truths;
}

std::size_t rows_of(const data::Dims& dims) {
  return dims.size() < 2 ? 0 : static_cast<std::size_t>(dims[dims.size() - 2]);
}

// Scores are [..,rows,classes], or [..,rows] of one class; an image may well have no rows at all.
std::size_t classes_of(const data::TensorView& boxes, const data::TensorView& scores,
                       const std::string& where) {
  const std::size_t rows = rows_of(boxes.dims);
  if (rows != 0) return data::element_count(scores.dims, where) / rows;
  return scores.dims.size() < boxes.dims.size() ? 1 : static_cast<std::size_t>(scores.dims.back());
}

}  // namespace

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1),
               height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  return shared / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - shared);
}

DetectionMeter::DetectionMeter(const std::vector<data::ValueDescription>& outputs, double least_score)
    : least_score_(least_score) {
  std::vector<std::size_t> boxes, others;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_boxes = outputs[i].shape.size() >= 2 && outputs[i].shape.back().value == 4;
    (is_boxes ? boxes : others).push_back(i);
  }
  if (boxes.size() != 1 || others.size() != 1) {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("boxes need an output [..,4] and one with their scores; of {} outputs {} could be boxes",
                    outputs.size(), boxes.size()));
  }
  boxes_ = boxes[0];
  scores_ = others[0];
}

std::vector<DetectionMeter::Detection> DetectionMeter::detect(std::span<const data::TensorView> outputs,
                                                              std::size_t of_class,
                                                              const std::vector<Box>& truths,
                                                              const std::string& where) const {
  std::vector<float> boxes, scores;
  data::to_floats(outputs[boxes_], boxes, where);
  data::to_floats(outputs[scores_], scores, where);
  const std::size_t rows = rows_of(outputs[boxes_].dims),
                    classes = classes_of(outputs[boxes_], outputs[scores_], where);
  if (rows * 4 != boxes.size() || rows * classes != scores.size() || of_class >= classes) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("there are {} boxes and {} scores", boxes.size() / 4, scores.size()), where);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows; ++i) {
    if (scores[i * classes + of_class] >= least_score_) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a * classes + of_class] > scores[b * classes + of_class];
  });
  order.resize(std::min(order.size(), kMostBoxes));
  std::vector<Box> kept;
  std::vector<bool> is_taken(truths.size(), false);
  std::vector<Detection> detections;
  for (const std::size_t i : order) {
    const Box box{boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]};
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const Box& other) { return overlap(box, other) > kSameBox; }))
      continue;
    kept.push_back(box);
    std::size_t best = truths.size();
    for (std::size_t t = 0; t < truths.size(); ++t) {
      const bool is_better = best == truths.size() || overlap(box, truths[t]) > overlap(box, truths[best]);
      if (!is_taken[t] && overlap(box, truths[t]) >= kSameBox && is_better) best = t;
    }
    if (best < truths.size()) is_taken[best] = true;
    detections.push_back({images_, scores[i * classes + of_class], best < truths.size()});
  }
  return detections;
}

void DetectionMeter::add(std::span<const data::TensorView> reference,
                         std::span<const data::TensorView> candidate, const data::Tensor& label,
                         const std::string& where) {
  std::map<std::size_t, std::vector<Box>> truths;
  for (const Truth& truth : read_truths(label, where)) truths[truth.of_class].push_back(truth.box);
  const std::size_t classes = classes_of(reference[boxes_], reference[scores_], where);
  if (!truths.empty() && truths.rbegin()->first >= classes) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has a box of class {} and the model knows {}", truths.rbegin()->first, classes),
                where);
  }
  for (std::size_t of_class = 0; of_class < classes; ++of_class) {
    OfClass& found = classes_[of_class];
    found.truths.resize(images_ + 1);
    found.truths.back() = truths[of_class].size();
    for (const bool is_candidate : {false, true}) {
      const auto more = detect(is_candidate ? candidate : reference, of_class, truths[of_class], where);
      auto& all = is_candidate ? found.candidate : found.reference;
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  ++images_;
}

// For each class the area under its precision-recall curve, precision made monotone.
double DetectionMeter::mean_precision(bool of_candidate, const std::vector<std::uint8_t>& weights) const {
  const auto weight = [&](std::size_t image) {
    return weights.empty() ? 1.0 : static_cast<double>(weights[image]);
  };
  double total = 0, classes = 0;
  for (const auto& [of_class, found] : classes_) {
    double truths = 0;
    for (std::size_t image = 0; image < found.truths.size(); ++image)
      truths += weight(image) * static_cast<double>(found.truths[image]);
    if (truths == 0) continue;
    std::vector<std::pair<double, double>> curve;  // recall, precision
    double right = 0, all = 0;
    for (const Detection& detection : of_candidate ? found.candidate : found.reference) {
      all += weight(detection.image);
      right += detection.is_right ? weight(detection.image) : 0;
      if (all > 0) curve.emplace_back(right / truths, right / all);
    }
    double area = 0, best = 0;
    for (std::size_t i = curve.size(); i-- > 0;) {
      best = std::max(best, curve[i].second);
      area += best * (curve[i].first - (i == 0 ? 0 : curve[i - 1].first));
    }
    total += area;
    ++classes;
  }
  return classes == 0 ? std::nan("") : total / classes;
}

MetricResult DetectionMeter::result() const {
  DetectionMeter sorted = *this;
  for (auto& [of_class, found] : sorted.classes_) {
    for (auto* detections : {&found.reference, &found.candidate}) {
      std::stable_sort(detections->begin(), detections->end(),
                       [](const Detection& a, const Detection& b) { return a.score > b.score; });
    }
  }
  MetricResult result;
  result.name = "map50";
  result.reference = sorted.mean_precision(false, {});
  result.candidate = sorted.mean_precision(true, {});
  result.drop = result.reference - result.candidate;
  std::vector<std::vector<std::uint8_t>> weights(kRounds, std::vector<std::uint8_t>(images_));
  std::array<std::uint8_t, kReplicas> drawn{};
  for (std::size_t image = 0; image < images_; ++image) {
    draw_weights(image, drawn);
    for (std::size_t round = 0; round < kRounds; ++round) weights[round][image] = drawn[round];
  }
  std::vector<double> drops;
  for (const auto& round : weights)
    drops.push_back(sorted.mean_precision(false, round) - sorted.mean_precision(true, round));
  const Interval interval = middle(std::move(drops));
  result.drop_low = interval.low;
  result.drop_high = interval.high;
  return result;
}

}  // namespace ounce::measure
