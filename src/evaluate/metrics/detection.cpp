#include "evaluate/metrics/detection.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "data/tensor.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

constexpr double kSameBox = 0.5;
constexpr std::size_t kMostBoxes = 1000;  // boxes per class and image before non-maximum suppression
constexpr std::size_t kRounds = 200;      // bootstrap replicas; each one reads all detections
constexpr std::size_t kFewRounds = 50;    // replicas for the mean over ten overlap thresholds
constexpr double kSureScore =
    0.25;  // without labels, the reference's detections with this score are the truth

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
                fmt::format("a label of boxes needs rows of x1, y1, x2, y2 and optionally the class, not {}",
                            data::describe(label.type, label.dims)),
                where);
  }
  std::vector<Truth> truths;
  for (std::size_t i = 0; i < values.size(); i += width) {
    const double of_class = width == 5 ? values[i + 4] : 0;
    if (of_class < 0 || of_class > 1e6 || of_class != std::floor(of_class))
      throw Error(ErrorCode::kBadInput, fmt::format("{} is not a valid class", of_class), where);
    truths.push_back(
        {static_cast<std::size_t>(of_class), {values[i], values[i + 1], values[i + 2], values[i + 3]}});
  }
  return truths;
}

// Non-maximum suppression: the best of overlapping boxes, by class, best first.
std::map<std::size_t, std::vector<ScoredBox>> suppressed(std::vector<ScoredBox> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const ScoredBox& a, const ScoredBox& b) { return a.score > b.score; });
  std::map<std::size_t, std::vector<ScoredBox>> kept;
  std::map<std::size_t, std::size_t> seen;
  for (const ScoredBox& one : all) {
    if (seen[one.of_class]++ >= kMostBoxes) continue;
    std::vector<ScoredBox>& of_class = kept[one.of_class];
    const bool is_known = std::any_of(of_class.begin(), of_class.end(), [&](const ScoredBox& other) {
      return overlap(one.box, other.box) > kSameBox;
    });
    if (!is_known) of_class.push_back(one);
  }
  return kept;
}

}  // namespace

DetectionMeter::DetectionMeter(const std::vector<data::ValueDescription>& outputs, double least_score)
    : layout_(outputs), least_score_(least_score) {}

DetectionMeter::Truths DetectionMeter::truths_of(const std::vector<ScoredBox>& reference,
                                                 const data::Tensor* label,
                                                 std::span<const data::TensorView> outputs,
                                                 const std::string& where) const {
  Truths truths;
  if (label == nullptr) {
    for (const auto& [of_class, kept] : suppressed(reference)) {
      for (const ScoredBox& one : kept) {
        if (one.score >= std::max(kSureScore, least_score_) && of_class != layout_.background())
          truths[of_class].push_back(one.box);
      }
    }
    return truths;
  }
  const std::vector<Truth> given = read_truths(*label, where);
  const bool has_shares = std::all_of(given.begin(), given.end(), [](const Truth& truth) {
    return std::fabs(truth.box.x2) <= 2 && std::fabs(truth.box.y2) <= 2;
  });
  const bool is_other = has_shares != layout_.is_normalised() && width_ > 0;
  const double x = !is_other    ? 1
                   : has_shares ? width_
                                : 1 / width_,
               y = !is_other    ? 1
                   : has_shares ? height_
                                : 1 / height_;
  for (const Truth& truth : given)
    truths[truth.of_class].push_back(
        {x * truth.box.x1, y * truth.box.y1, x * truth.box.x2, y * truth.box.y2});
  const std::optional<std::size_t> classes = layout_.classes(outputs, where);
  if (classes && !truths.empty() && truths.rbegin()->first >= *classes) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the label has a box of class {}, but the model has only {} classes",
                            truths.rbegin()->first, *classes),
                where);
  }
  return truths;
}

std::vector<DetectionMeter::Detection> DetectionMeter::hold_against(const std::vector<ScoredBox>& kept,
                                                                    const std::vector<Box>& truths) const {
  std::vector<Detection> detections;
  std::array<std::vector<bool>, kLimits> are_taken;
  are_taken.fill(std::vector<bool>(truths.size(), false));
  for (const ScoredBox& one : kept) {
    std::vector<double> overlaps;
    for (const Box& truth : truths) overlaps.push_back(overlap(one.box, truth));
    Detection& detection = detections.emplace_back(Detection{images_, one.score, {}});
    for (std::size_t limit = 0; limit < kLimits; ++limit) {
      const double least = kSameBox + 0.05 * static_cast<double>(limit) - 1e-9;
      std::size_t best = truths.size();
      for (std::size_t t = 0; t < truths.size(); ++t) {
        if (are_taken[limit][t] || overlaps[t] < least) continue;
        if (best == truths.size() || overlaps[t] > overlaps[best]) best = t;
      }
      detection.is_right[limit] = best < truths.size();
      if (best < truths.size()) are_taken[limit][best] = true;
    }
  }
  return detections;
}

bool DetectionMeter::finds_nothing(const std::vector<ScoredBox>& found) const {
  return std::all_of(found.begin(), found.end(),
                     [&](const ScoredBox& one) { return one.of_class == layout_.background(); });
}

bool DetectionMeter::is_sure(const std::vector<ScoredBox>& found) const {
  return std::any_of(found.begin(), found.end(), [&](const ScoredBox& one) {
    return one.score >= std::max(kSureScore, least_score_) && one.of_class != layout_.background();
  });
}

bool DetectionMeter::has_truths() const {
  return std::any_of(classes_.begin(), classes_.end(),
                     [](const auto& of_class) { return !of_class.second.truths.empty(); });
}

double DetectionMeter::share_without_alarms(bool of_candidate,
                                            const std::vector<std::uint8_t>& weights) const {
  double all = 0, without = 0;
  for (const FalseAlarm& alarm : alarms_) {
    const double weight = weights.empty() ? 1.0 : weights[alarm.image];
    all += weight;
    without += (of_candidate ? alarm.of_candidate : alarm.of_reference) ? 0 : weight;
  }
  return all == 0 ? std::nan("") : without / all;
}

void DetectionMeter::add(const Sample& sample) {
  if (width_ == 0 && sample.picture_width > 0) width_ = sample.picture_width, height_ = sample.picture_height;
  if (!layout_.is_settled()) layout_.settle(sample.reference, sample.where);
  const std::vector<ScoredBox> ours = layout_.read(sample.reference, least_score_, sample.where),
                               theirs = layout_.read(sample.candidate, least_score_, sample.where);
  const Truths truths = truths_of(ours, sample.label, sample.reference, sample.where);
  was_silent_ = finds_nothing(ours) && finds_nothing(theirs);
  if (truths.empty() && (is_sure(ours) || is_sure(theirs)))
    alarms_.push_back({images_, is_sure(ours), is_sure(theirs)});
  for (const auto& [of_class, boxes] : truths) {
    std::vector<std::size_t>& counts = classes_[of_class].truths;
    counts.resize(images_ + 1);
    counts.back() = boxes.size();
  }
  const auto boxes_of = [&](std::size_t of_class) {
    const auto found = truths.find(of_class);
    return found == truths.end() ? std::vector<Box>() : found->second;
  };
  for (const bool is_candidate : {false, true}) {
    for (const auto& [of_class, kept] : suppressed(is_candidate ? theirs : ours)) {
      const std::vector<Detection> more = hold_against(kept, boxes_of(of_class));
      OfClass& found = classes_[of_class];
      auto& all = is_candidate ? found.candidate : found.reference;
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  ++images_;
}

// The mean over the classes of the area under the precision-recall curve, with monotone precision.
double DetectionMeter::mean_precision(bool of_candidate, std::size_t limit,
                                      const std::vector<std::uint8_t>& weights) const {
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
      right += detection.is_right[limit] ? weight(detection.image) : 0;
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

MetricResult DetectionMeter::result(const char* name, std::size_t limits, std::size_t rounds) const {
  const bool has_objects = has_truths();
  const auto precision = [&](bool of_candidate, const std::vector<std::uint8_t>& weights) {
    if (!has_objects) return share_without_alarms(of_candidate, weights);
    double total = 0;
    for (std::size_t limit = 0; limit < limits; ++limit)
      total += mean_precision(of_candidate, limit, weights);
    return total / static_cast<double>(limits);
  };
  MetricResult result;
  result.name = name;
  result.unit = MetricUnit::kShare;
  result.reference = precision(false, {});
  result.candidate = precision(true, {});
  result.drop = result.reference - result.candidate;
  if (std::isnan(result.drop)) {
    result.has_interval = false;
    result.why_not = "no image has an object, and neither model detects any";
    return result;
  }
  std::vector<std::vector<std::uint8_t>> weights(rounds, std::vector<std::uint8_t>(images_));
  std::array<std::uint8_t, kReplicas> drawn{};
  for (std::size_t image = 0; image < images_; ++image) {
    draw_weights(image, drawn);
    for (std::size_t round = 0; round < rounds; ++round) weights[round][image] = drawn[round];
  }
  std::vector<double> drops;
  for (const auto& round : weights) drops.push_back(precision(false, round) - precision(true, round));
  const Interval interval = middle(std::move(drops));
  result.drop_low = interval.low;
  result.drop_high = interval.high;
  return result;
}

std::vector<MetricResult> DetectionMeter::results() const {
  DetectionMeter sorted = *this;
  for (auto& [of_class, found] : sorted.classes_) {
    for (auto* detections : {&found.reference, &found.candidate}) {
      std::stable_sort(detections->begin(), detections->end(),
                       [](const Detection& a, const Detection& b) { return a.score > b.score; });
    }
  }
  return {sorted.result("map50", 1, kRounds), sorted.result("map50_95", kLimits, kFewRounds)};
}

std::unique_ptr<Meter> make_detection(const MeterSettings& settings) {
  return std::make_unique<DetectionMeter>(settings.outputs, settings.threshold.value_or(kLeastScore));
}

}  // namespace ounce::evaluate
