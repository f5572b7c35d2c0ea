#include "evaluate/metrics/detection.h"

#include <gmock/gmock.h>

#include <cmath>

#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::test::described;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::HasSubstr;

const std::vector<data::ValueDescription> kOutputs = {described("scores", ElementType::kFloat, {1, -1, 2}),
                                                      described("boxes", ElementType::kFloat, {1, -1, 4})};

// A box of 10 × 10 at (x, 0), with the scores of two classes.
struct Found {
  float x, first, second;
};

std::vector<Tensor> outputs_of(const std::vector<Found>& all) {
  std::vector<float> scores, boxes;
  for (const Found& found : all) {
    scores.insert(scores.end(), {found.first, found.second});
    boxes.insert(boxes.end(), {found.x, 0, found.x + 10, 10});
  }
  const auto count = static_cast<std::int64_t>(all.size());
  return {tensor_of<float>({1, count, 2}, scores), tensor_of<float>({1, count, 4}, boxes)};
}

// Boxes of class 1 at these x coordinates.
Tensor truths(const std::vector<float>& places) {
  std::vector<float> rows;
  for (const float x : places) rows.insert(rows.end(), {x, 0, x + 10, 10, 1});
  return tensor_of<float>({static_cast<std::int64_t>(places.size()), 5}, rows);
}

void add(DetectionMeter& meter, const std::vector<Tensor>& reference, const std::vector<Tensor>& candidate,
         const Tensor& label) {
  const std::vector<data::TensorView> ours(reference.begin(), reference.end()),
      theirs(candidate.begin(), candidate.end());
  meter.add({ours, theirs, &label, {}, "a.jpg"});
}

double precision(const std::vector<Found>& found, const Tensor& label) {
  DetectionMeter meter(kOutputs, 0.05);
  add(meter, outputs_of(found), outputs_of(found), label);
  return meter.results().front().reference;
}

TEST(DetectionTest, OverlapIsTheSharedPartOfTheUnion) {
  const Box box{0, 0, 10, 10};
  EXPECT_EQ(overlap(box, box), 1);
  EXPECT_DOUBLE_EQ(overlap(box, {5, 0, 15, 10}), 50. / 150);
  EXPECT_DOUBLE_EQ(overlap(box, {2, 2, 4, 4}), 0.04);
  EXPECT_EQ(overlap(box, {10, 0, 20, 10}), 0);  // the boxes touch
  EXPECT_EQ(overlap(box, {20, 20, 30, 30}), 0);
  EXPECT_EQ(overlap(box, {8, 8, 2, 2}), 0);  // corners swapped
}

TEST(DetectionTest, EveryBoxFoundIsFullPrecision) {
  EXPECT_EQ(precision({{0, 0, 0.9F}, {50, 0, 0.8F}}, truths({0, 50})), 1);
}

// Detections: right, wrong, right, of three objects: recall 1/3 at precision 1, then 2/3 at 2/3.
TEST(DetectionTest, TheAreaUnderACurveByHand) {
  EXPECT_NEAR(precision({{0, 0, 0.9F}, {200, 0, 0.8F}, {50, 0, 0.7F}}, truths({0, 50, 100})),
              1. / 3 + 2. / 3 / 3, 1e-12);
}

// Detections: wrong, right, right, of two objects: precisions 1/2 and 2/3; monotone: 2/3 for both.
TEST(DetectionTest, PrecisionIsMadeMonotone) {
  EXPECT_NEAR(precision({{200, 0, 0.9F}, {0, 0, 0.8F}, {50, 0, 0.7F}}, truths({0, 50})), 2. / 3, 1e-12);
}

TEST(DetectionTest, BoxesThatOverlapAreOneDetection) {
  EXPECT_EQ(precision({{0, 0, 0.9F}, {1, 0, 0.95F}, {2, 0, 0.8F}}, truths({0})), 1);
  // The box at (4, 0) overlaps by only 6/14, so it is a separate, wrong detection. It does not matter after
  // the right one.
  EXPECT_EQ(precision({{0, 0, 0.9F}, {4, 0, 0.8F}}, truths({0})), 1);
  EXPECT_EQ(precision({{0, 0, 0.8F}, {4, 0, 0.9F}}, truths({0})), 0.5);
}

TEST(DetectionTest, ATruthIsFoundOnlyOnce) {
  // Both overlap the truth by more than half, but not each other.
  EXPECT_NEAR(precision({{-2.9F, 0, 0.9F}, {2.9F, 0, 0.8F}, {50, 0, 0.7F}}, truths({0, 50})),
              0.5 + 0.5 * 2 / 3, 1e-12);
}

TEST(DetectionTest, ClassesThatNoLabelHasDoNotCount) {
  // Class 0 is the background: its boxes do not count as wrong.
  EXPECT_EQ(precision({{0, 0.9F, 0.9F}, {50, 0.9F, 0}, {90, 0.9F, 0}}, truths({0})), 1);
}

TEST(DetectionTest, BoxesBelowTheLeastScoreAreNone) {
  EXPECT_EQ(precision({{200, 0, 0.04F}, {0, 0, 0.05F + 1e-6F}}, truths({0})), 1);
  EXPECT_EQ(precision({{0, 0, 0.04F}}, truths({0})), 0);
}

TEST(DetectionTest, LabelsWithoutAClassAreOfTheFirst) {
  EXPECT_EQ(precision({{0, 0.9F, 0}}, tensor_of<float>({1, 4}, {0, 0, 10, 10})), 1);
}

TEST(DetectionTest, TheCandidateIsComparedOnTheSameImages) {
  DetectionMeter meter(kOutputs, 0.05);
  for (int i = 0; i < 20; ++i) {
    const auto right = outputs_of({{0, 0, 0.9F}}), wrong = outputs_of({{70, 0, 0.9F}});
    add(meter, right, i % 2 == 0 ? right : wrong, truths({0}));
  }
  const MetricResult result = meter.results().front();
  EXPECT_EQ(result.name, "map50");
  EXPECT_NEAR(result.reference, 1, 1e-12);
  // Equal scores keep the order of the images: right, wrong, right and so on.
  EXPECT_GT(result.candidate, 0.25);
  EXPECT_LT(result.candidate, 0.5);
  EXPECT_EQ(result.drop, result.reference - result.candidate);
  EXPECT_LT(result.drop_low, result.drop);
  EXPECT_GT(result.drop_high, result.drop);
}

TEST(DetectionTest, AnImageWithoutBoxesOrTruthsCounts) {
  DetectionMeter meter(kOutputs, 0.05);
  const auto right = outputs_of({{0, 0, 0.9F}}), none = outputs_of({});
  add(meter, none, none, truths({0}));   // missed
  add(meter, right, none, truths({0}));  // found only by the reference
  add(meter, right, right, truths({}));  // found by both, but there is no object
  const MetricResult result = meter.results().front();
  EXPECT_EQ(result.reference, 0.5);
  EXPECT_EQ(result.candidate, 0);
}

TEST(DetectionTest, WithoutAnyObjectNothingIsMeasured) {
  DetectionMeter meter(kOutputs, 0.05);
  const auto none = outputs_of({}), unsure = outputs_of({{0, 0, 0.1F}});
  add(meter, none, none, truths({}));
  EXPECT_TRUE(meter.was_silent());
  add(meter, unsure, none, truths({}));
  EXPECT_FALSE(meter.was_silent()) << "0.1 exceeds the threshold";
  for (const MetricResult& result : meter.results()) {
    EXPECT_TRUE(std::isnan(result.drop)) << result.name;
    EXPECT_EQ(result.why_not, "no image has an object, and neither model detects any");
    EXPECT_FALSE(result.has_interval);
  }
}

// Images without detections do not count. Images with a false detection do.
TEST(DetectionTest, WithoutAnyObjectDetectionsAreFalse) {
  DetectionMeter meter(kOutputs, 0.05);
  const auto none = outputs_of({}), sure = outputs_of({{0, 0, 0.9F}});
  add(meter, none, none, truths({}));
  add(meter, none, sure, truths({}));
  add(meter, sure, sure, truths({}));
  const MetricResult result = meter.results().front();
  EXPECT_EQ(result.reference, 0.5);
  EXPECT_EQ(result.candidate, 0);
  EXPECT_EQ(result.drop, 0.5);
  EXPECT_EQ(result.why_not, "");
}

TEST(DetectionTest, LabelsThatAreNoBoxesAreRefused) {
  const auto refusal = [](const Tensor& label) {
    const Error error = error_of([&] { precision({{0, 0, 0.9F}}, label); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal(tensor_of<float>({1, 3}, {1, 2, 3})), HasSubstr("float32[1,3]"));
  EXPECT_THAT(refusal(tensor_of<float>({4}, {1, 2, 3, 4})), HasSubstr("float32[4]"));
  EXPECT_THAT(refusal(tensor_of<float>({1, 5}, {0, 0, 1, 1, 2})), HasSubstr("class 2"));
  EXPECT_THAT(refusal(tensor_of<float>({1, 5}, {0, 0, 1, 1, 0.5})), HasSubstr("not a valid class"));
  EXPECT_THAT(refusal(tensor_of<float>({1, 5}, {0, 0, 1, 1, -1})), HasSubstr("not a valid class"));
}

TEST(DetectionTest, ScoresThatDoNotFitTheBoxesAreRefused) {
  DetectionMeter meter(kOutputs, 0.05);
  std::vector<Tensor> outputs = outputs_of({{0, 0, 0.9F}, {50, 0, 0.9F}});
  outputs[0] = tensor_of<float>({1, 5}, {1, 2, 3, 4, 5});
  const Error error = error_of([&] { add(meter, outputs, outputs, truths({0})); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
}

using Described = std::vector<data::ValueDescription>;

TEST(DetectionTest, TheOutputsMustBeClear) {
  for (const Described& outputs :
       {Described{kOutputs[0]}, Described{kOutputs[1]}, Described{kOutputs[1], kOutputs[1]},
        Described{kOutputs[0], kOutputs[0], kOutputs[1]}}) {
    EXPECT_EQ(error_of([&] { DetectionMeter(outputs, 0.05); }).code(), ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace ounce::evaluate
