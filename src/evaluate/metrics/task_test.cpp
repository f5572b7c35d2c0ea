#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"
#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::test::described;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::HasSubstr;

struct TaskTest : testing::Test {
  void make(Task task, const std::vector<std::int64_t>& shape, ElementType type = ElementType::kFloat) {
    settings.outputs = {described("y", type, shape)};
    meter = find_metric(task, kAutoMetric)->make(settings);
  }
  void add(const Tensor& reference, const Tensor& candidate, const Tensor* label = nullptr) {
    const data::TensorView ours = reference, theirs = candidate;
    meter->add({{&ours, 1}, {&theirs, 1}, label, mask, "a"});
  }
  MetricResult metric(const std::string& name) const {
    for (const MetricResult& result : meter->results()) {
      if (result.name == name) return result;
    }
    ADD_FAILURE() << "no metric " << name;
    return {};
  }
  MeterSettings settings;
  std::vector<bool> mask;
  std::unique_ptr<Meter> meter;
};

Tensor floats(data::Dims dims, const std::vector<float>& values) {
  return tensor_of<float>(std::move(dims), values);
}

TEST(SampleSumsTest, AFigureOfSumsAndItsInterval) {
  SampleSums sums;
  for (int i = 0; i < 100; ++i) sums.add({1, 1}, {i % 4 == 0 ? 0.0 : 1.0, 1});
  const MetricResult result = sums.mean("right", true, MetricUnit::kShare);
  EXPECT_EQ(result.reference, 1);
  EXPECT_EQ(result.candidate, 0.75);
  EXPECT_EQ(result.drop, 0.25);
  EXPECT_LT(result.drop_low, 0.25);
  EXPECT_GT(result.drop_low, 0.1);
  EXPECT_GT(result.drop_high, 0.25);
  EXPECT_LT(result.drop_high, 0.4);
  EXPECT_EQ(sums.mean("wrong", false, MetricUnit::kShare).drop, -0.25);
}

TEST(SampleSumsTest, OfNothingIsNotANumber) {
  EXPECT_TRUE(std::isnan(SampleSums().mean("right", true, MetricUnit::kShare).reference));
}

TEST_F(TaskTest, ClassesWithoutLabelsAreTheReferences) {
  make(Task::kClassify, {-1, 3});
  add(floats({1, 3}, {3, 2, 1}), floats({1, 3}, {3, 1, 2}));
  add(floats({1, 3}, {3, 2, 1}), floats({1, 3}, {2, 3, 1}));
  EXPECT_EQ(meter->results().front().name, "top1_accuracy");
  EXPECT_EQ(metric("top1_accuracy").reference, 1);
  EXPECT_EQ(metric("top1_accuracy").candidate, 0.5);
}

TEST_F(TaskTest, RegressionHasBothErrors) {
  make(Task::kRegress, {-1, 2});
  add(floats({1, 2}, {1, 2}), floats({1, 2}, {1, 4}));
  EXPECT_EQ(metric("mean_absolute_error").reference, 0);
  EXPECT_EQ(metric("mean_absolute_error").candidate, 1);
  EXPECT_EQ(metric("mean_squared_error").candidate, 2);
  const Tensor label = floats({2}, {2, 2});
  make(Task::kRegress, {-1, 2});
  add(floats({1, 2}, {1, 2}), floats({1, 2}, {1, 4}), &label);
  EXPECT_EQ(metric("mean_absolute_error").reference, 0.5);
  EXPECT_EQ(metric("mean_absolute_error").candidate, 1.5);
}

TEST_F(TaskTest, EmbeddingsKeepTheirNeighbours) {
  make(Task::kEmbed, {-1, 2});
  const auto at = [](double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    return floats({1, 2}, {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
  };
  // The candidate moves the third vector from the second to the fourth.
  const std::vector<double> ours = {0, 5, 12, 30}, theirs = {0, 5, 25, 30};
  for (std::size_t i = 0; i < ours.size(); ++i) add(at(ours[i]), at(theirs[i]));
  EXPECT_EQ(meter->results().front().name, "recall_at_1");
  EXPECT_EQ(metric("recall_at_1").reference, 1);
  EXPECT_EQ(metric("recall_at_1").candidate, 0.75);
  EXPECT_EQ(metric("recall_at_3").candidate, 1);
  EXPECT_NEAR(metric("cosine").candidate, (3 + std::cos(13 * std::numbers::pi / 180)) / 4, 1e-6);
}

TEST_F(TaskTest, EmbeddingsWithLabelsAreJudgedByThoseOfTheirNeighbours) {
  make(Task::kEmbed, {-1, 2});
  const std::vector<std::vector<float>> vectors = {{1, 0}, {1, 0.1F}, {0, 1}, {0.1F, 1}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor label =
        tensor_of<std::int64_t>({}, {i == 3 ? std::int64_t{0} : static_cast<std::int64_t>(i / 2)});
    add(floats({1, 2}, vectors[i]), floats({1, 2}, vectors[i]), &label);
  }
  EXPECT_EQ(meter->results().front().name, "neighbour_accuracy");
  EXPECT_EQ(metric("neighbour_accuracy").reference, 0.5);
  EXPECT_EQ(metric("cosine").candidate, 1);
}

TEST_F(TaskTest, EmbeddingsOfOtherLengthsAreRefused) {
  make(Task::kEmbed, {-1, -1});
  add(floats({1, 2}, {1, 2}), floats({1, 2}, {1, 2}));
  const Error error = error_of([&] { add(floats({1, 3}, {1, 2, 3}), floats({1, 3}, {1, 2, 3})); });
  EXPECT_THAT(error.what(), HasSubstr("an embedding has 3 numbers, but earlier ones have 2"));
}

// Scores with these best classes.
Tensor steps(const std::vector<std::size_t>& best, std::size_t classes, bool is_batch_second = false) {
  std::vector<float> scores(best.size() * classes, 0);
  for (std::size_t i = 0; i < best.size(); ++i) scores[i * classes + best[i]] = 1;
  const auto length = static_cast<std::int64_t>(best.size()), count = static_cast<std::int64_t>(classes);
  return floats(is_batch_second ? data::Dims{length, 1, count} : data::Dims{1, length, count}, scores);
}

TEST_F(TaskTest, TextIsWhatIsLeftOfTheSteps) {
  for (const bool is_batch_second : {false, true}) {
    make(Task::kCtc, {1, -1, 4});
    // Repeated steps and blanks do not change the text; "1 2 2" differs from "1 2" and "1 1 2".
    add(steps({0, 1, 1, 0, 2, 0, 0}, 4, is_batch_second), steps({1, 0, 0, 2, 2, 0, 0}, 4, is_batch_second));
    add(steps({0, 1, 0, 2, 0, 2, 0}, 4, is_batch_second), steps({1, 0, 1, 0, 2, 0, 0}, 4, is_batch_second));
    EXPECT_EQ(metric("line_accuracy").reference, 1);
    EXPECT_EQ(metric("line_accuracy").candidate, 0.5);
    EXPECT_EQ(metric("character_error_rate").reference, 0);
    EXPECT_DOUBLE_EQ(metric("character_error_rate").candidate, 1. / 5);
    EXPECT_FALSE(metric("character_error_rate").higher_is_better);
  }
}

TEST_F(TaskTest, TheBlankMayBeTheLastClass) {
  make(Task::kCtc, {1, -1, 4});
  add(steps({3, 0, 3, 3, 1, 3, 3}, 4), steps({3, 0, 0, 3, 1, 1, 3}, 4));
  EXPECT_EQ(metric("line_accuracy").candidate, 1);
  add(steps({3, 0, 3, 3, 1, 3, 3}, 4), steps({3, 0, 3, 0, 3, 1, 3}, 4));
  EXPECT_EQ(metric("line_accuracy").candidate, 0.5);
}

TEST_F(TaskTest, LabelsOfTextMayBeFilledUp) {
  make(Task::kCtc, {1, -1, 4});
  const Tensor label = tensor_of<std::int64_t>({4}, {1, 2, -1, -1});
  add(steps({0, 1, 0, 3, 0, 0}, 4), steps({0, 1, 0, 2, 0, 0}, 4), &label);
  EXPECT_EQ(metric("line_accuracy").reference, 0);
  EXPECT_EQ(metric("line_accuracy").candidate, 1);
  EXPECT_EQ(metric("character_error_rate").reference, 0.5);
}

TEST_F(TaskTest, SegmentsCoverEachOther) {
  make(Task::kSegment, {1, 2, 2, 2});
  // Class 1 is the right half; the candidate predicts class 0 for one pixel of it.
  add(floats({1, 2, 2, 2}, {1, 0, 1, 0, 0, 1, 0, 1}), floats({1, 2, 2, 2}, {1, 0, 1, 1, 0, 1, 0, 0}));
  EXPECT_EQ(metric("mean_iou").reference, 1);
  EXPECT_DOUBLE_EQ(metric("mean_iou").candidate, (2. / 3 + 1. / 2) / 2);
  EXPECT_EQ(metric("pixel_accuracy").candidate, 0.75);
}

TEST_F(TaskTest, LabelsOfSegmentsMayLeavePixelsOut) {
  make(Task::kSegment, {1, 2, 1, 3});
  const Tensor label = tensor_of<std::uint8_t>({1, 3}, {0, 1, 255});
  add(floats({1, 2, 1, 3}, {1, 0, 0, 0, 1, 1}), floats({1, 2, 1, 3}, {1, 1, 0, 0, 0, 1}), &label);
  EXPECT_EQ(metric("pixel_accuracy").reference, 1);
  EXPECT_EQ(metric("pixel_accuracy").candidate, 0.5);
  const Tensor wrong = tensor_of<std::uint8_t>({1, 3}, {0, 2, 255});
  const Error error = error_of([&] {
    add(floats({1, 2, 1, 3}, {1, 0, 0, 0, 1, 1}), floats({1, 2, 1, 3}, {1, 1, 0, 0, 0, 1}), &wrong);
  });
  EXPECT_THAT(error.what(), HasSubstr("the label 2 is not one of the 2 classes"));
}

TEST_F(TaskTest, OneScoreIsYesOrNo) {
  make(Task::kSegment, {1, 1, 1, 4});
  add(floats({1, 1, 1, 4}, {0.9F, 0.6F, 0.2F, 0}), floats({1, 1, 1, 4}, {0.9F, 0.4F, 0.2F, 0}));
  EXPECT_EQ(metric("pixel_accuracy").candidate, 0.75);
  make(Task::kSegment, {1, 4}, ElementType::kInt64);
  add(tensor_of<std::int64_t>({1, 4}, {7, 7, 2, 0}), tensor_of<std::int64_t>({1, 4}, {7, 7, 0, 0}));
  EXPECT_DOUBLE_EQ(metric("mean_iou").candidate, (1 + 0 + 0.5) / 3);
}

TEST_F(TaskTest, EntitiesAreRightAsAWhole) {
  make(Task::kTag, {1, -1, 5});  // O B-0 I-0 B-1 I-1
  add(steps({1, 2, 0, 3, 4, 4}, 5), steps({1, 2, 0, 3, 4, 0}, 5));
  EXPECT_EQ(meter->results().front().name, "entity_f1");
  EXPECT_EQ(metric("entity_f1").reference, 1);
  EXPECT_EQ(metric("entity_f1").candidate, 0.5);
  EXPECT_DOUBLE_EQ(metric("token_accuracy").candidate, 5. / 6);
}

TEST_F(TaskTest, TagsMayHaveNamesOfTheirOwn) {
  settings.tags = {"S-A", "B-A", "I-A", "E-A", "O"};
  make(Task::kTag, {1, -1, 5});
  // One entity of three tokens, which the candidate ends too early, and one of a single token.
  add(steps({0, 0, 1, 2, 3, 4}, 5), steps({0, 0, 1, 3, 4, 4}, 5));
  EXPECT_DOUBLE_EQ(metric("entity_f1").candidate, 2. / 3);
}

TEST_F(TaskTest, TokensThatDoNotCountAreLeftOut) {
  make(Task::kTag, {1, -1, 3});
  mask = {true, true, false};
  add(steps({1, 0, 1}, 3), steps({1, 0, 0}, 3));
  EXPECT_EQ(metric("token_accuracy").candidate, 1);
  const Tensor label = tensor_of<std::int64_t>({3}, {1, -100, 2});
  add(steps({1, 0, 2}, 3), steps({1, 2, 2}, 3), &label);
  EXPECT_EQ(metric("token_accuracy").candidate, 1);
}

TEST_F(TaskTest, NamesOfTagsMustFit) {
  settings.tags = {"O", "B-A"};
  const Error error = error_of([&] { make(Task::kTag, {1, -1, 3}); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("`tags` has 2 names, but 'y' has 3 tags"));
}

std::vector<float> wave(double noise, float loudness = 1) {
  std::vector<float> values;
  for (int i = 0; i < 2000; ++i)
    values.push_back(loudness * static_cast<float>(std::sin(0.05 * i) + noise * std::sin(1.3 * i)));
  return values;
}

TEST_F(TaskTest, SoundIsHeardWhateverItsLoudness) {
  make(Task::kAudio, {1, -1});
  add(floats({1, 2000}, wave(0)), floats({1, 2000}, wave(0.01, 0.5F)));
  EXPECT_EQ(metric("si_snr").reference, 100);
  EXPECT_NEAR(metric("si_snr").candidate, 40, 0.2);
  EXPECT_EQ(metric("log_spectral_distance").reference, 0);
  EXPECT_GT(metric("log_spectral_distance").candidate, 5);  // the candidate is also 6 dB quieter
}

TEST_F(TaskTest, AWaveAsALabelIsWhatIsWanted) {
  make(Task::kAudio, {1, -1});
  const Tensor label = floats({2000}, wave(0));
  add(floats({1, 2000}, wave(0.1)), floats({1, 2000}, wave(0.2)), &label);
  EXPECT_NEAR(metric("si_snr").drop, 6, 0.1);
  const Tensor other = floats({3}, {1, 2, 3});
  EXPECT_THAT(error_of([&] {
                add(floats({1, 2000}, wave(0)), floats({1, 2000}, wave(0)), &other);
              }).what(),
              HasSubstr("a waveform of 3 values, but the output has 2000"));
}

}  // namespace
}  // namespace ounce::evaluate
