#include "evaluate/metrics/detection.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::test::described;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::HasSubstr;

using Outputs = std::vector<data::ValueDescription>;

std::vector<ScoredBox> read(const Outputs& outputs, const std::vector<Tensor>& values, double least = 0.1) {
  DetectionLayout layout(outputs);
  const std::vector<data::TensorView> views(values.begin(), values.end());
  layout.settle(views, "a.jpg");
  return layout.read(views, least, "a.jpg");
}

void expect_box(const ScoredBox& found, const Box& box, double score, std::size_t of_class) {
  EXPECT_NEAR(found.box.x1, box.x1, 1e-4);
  EXPECT_NEAR(found.box.y1, box.y1, 1e-4);
  EXPECT_NEAR(found.box.x2, box.x2, 1e-4);
  EXPECT_NEAR(found.box.y2, box.y2, 1e-4);
  EXPECT_NEAR(found.score, score, 1e-6);
  EXPECT_EQ(found.of_class, of_class);
}

// A table of rows, optionally transposed.
Tensor table(const std::vector<std::vector<float>>& rows, bool is_turned = false) {
  const std::size_t count = rows.size(), width = rows[0].size();
  std::vector<float> values(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) values[is_turned ? k * count + i : i * width + k] = rows[i][k];
  }
  const auto high = static_cast<std::int64_t>(count), wide = static_cast<std::int64_t>(width);
  return tensor_of<float>(is_turned ? data::Dims{1, wide, high} : data::Dims{1, high, wide}, values);
}

// One detection in the first row, and near-zero scores in the others.
std::vector<std::vector<float>> with_nothing(const std::vector<float>& first, std::size_t count) {
  std::vector<std::vector<float>> rows(count, std::vector<float>(first.size(), 0.001F));
  for (auto& row : rows) row[0] = row[1] = 50;
  rows[0] = first;
  return rows;
}

TEST(DetectionLayoutTest, CentresWithAnObjectScore) {
  const auto found = read({described("y", ElementType::kFloat, {1, 20, 8})},
                          {table(with_nothing({100, 50, 20, 10, 0.8F, 0.1F, 0.5F, 0}, 20))}, 0.2);
  ASSERT_EQ(found.size(), 1U);
  expect_box(found[0], {90, 45, 110, 55}, 0.4, 1);
}

TEST(DetectionLayoutTest, CentresTurnedRound) {
  const auto found = read({described("y", ElementType::kFloat, {1, 7, 20})},
                          {table(with_nothing({100, 50, 20, 10, 0.1F, 0.5F, 0.9F}, 20), true)}, 0.2);
  ASSERT_EQ(found.size(), 2U);
  expect_box(found[0], {90, 45, 110, 55}, 0.5, 1);
  expect_box(found[1], {90, 45, 110, 55}, 0.9, 2);
}

TEST(DetectionLayoutTest, WhatStandsBehindTheScoresIsNoClass) {
  const auto found = read({described("y", ElementType::kFloat, {1, 8, 20})},
                          {table(with_nothing({100, 50, 20, 10, 0.5F, 0.1F, -2, 3}, 20), true)}, 0.2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].of_class, 0U);
}

TEST(DetectionLayoutTest, LogitsBecomeShares) {
  auto rows = with_nothing({100, 50, 20, 10, 0, -5}, 20);
  for (std::size_t i = 1; i < rows.size(); ++i) rows[i][4] = rows[i][5] = -9;
  const auto found = read({described("y", ElementType::kFloat, {1, 6, 20})}, {table(rows, true)}, 0.2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].score, 0.5);
}

TEST(DetectionLayoutTest, ListsWithTheClassBehindTheScore) {
  const auto found = read({described("y", ElementType::kFloat, {1, 3, 6})},
                          {table({{1, 2, 30, 40, 0.9F, 7}, {5, 5, 9, 9, 0.3F, 0}, {0, 0, 0, 0, 0, 0}})});
  ASSERT_EQ(found.size(), 2U);
  expect_box(found[0], {1, 2, 30, 40}, 0.9, 7);
}

TEST(DetectionLayoutTest, ListsWithThePictureInFront) {
  Tensor rows = table({{0, 1, 2, 30, 40, 7, 0.9F}, {0, 5, 5, 9, 9, 2, 0.3F}});
  rows.dims = {2, 7};
  const auto found = read({described("y", ElementType::kFloat, {-1, 7})}, {rows});
  ASSERT_EQ(found.size(), 2U);
  expect_box(found[0], {1, 2, 30, 40}, 0.9, 7);
}

TEST(DetectionLayoutTest, BoxesScoresAndClassesApart) {
  const auto found =
      read({described("boxes", ElementType::kFloat, {-1, 4}), described("labels", ElementType::kInt64, {-1}),
            described("scores", ElementType::kFloat, {-1})},
           {tensor_of<float>({2, 4}, {1, 2, 30, 40, 5, 5, 9, 9}), tensor_of<std::int64_t>({2}, {7, 2}),
            tensor_of<float>({2}, {0.9F, 0.05F})});
  ASSERT_EQ(found.size(), 1U);
  expect_box(found[0], {1, 2, 30, 40}, 0.9, 7);
}

TEST(DetectionLayoutTest, CornersThatStandTheWrongWayAreCentres) {
  const Outputs outputs = {described("boxes", ElementType::kFloat, {1, -1, 4}),
                           described("logits", ElementType::kFloat, {1, -1, 2})};
  const auto found =
      read(outputs, {tensor_of<float>({1, 2, 4}, {0.5F, 0.5F, 0.2F, 0.1F, 0.8F, 0.2F, 0.1F, 0.1F}),
                     tensor_of<float>({1, 2, 2}, {0.9F, 0, 0, 0.8F})});
  ASSERT_EQ(found.size(), 2U);
  expect_box(found[0], {0.4, 0.45, 0.6, 0.55}, 0.9, 0);
}

TEST(DetectionLayoutTest, OutputsThatAreNoBoxesAreRefused) {
  const Error error = error_of([] { DetectionLayout({described("y", ElementType::kFloat, {1, 3, 8, 8})}); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("of 1 outputs 0 could be boxes"));
}

// Without labels, the reference's detections with a high score are the truth.
TEST(DetectionLayoutTest, TheReferenceIsTheTruthWithoutLabels) {
  const Outputs outputs = {described("y", ElementType::kFloat, {1, 6, 20})};
  DetectionMeter meter(outputs, 0.05);
  const Tensor ours = table(with_nothing({100, 50, 20, 10, 0.1F, 0.9F}, 20), true),
               near = table(with_nothing({103, 50, 20, 10, 0.1F, 0.9F}, 20), true),
               none = table(with_nothing({100, 50, 20, 10, 0.1F, 0.01F}, 20), true);
  const auto add = [&](const Tensor& reference, const Tensor& candidate) {
    const data::TensorView a = reference, b = candidate;
    meter.add({{&a, 1}, {&b, 1}, nullptr, {}, "a.jpg"});
  };
  add(ours, near);
  EXPECT_EQ(meter.results()[0].name, "map50");
  EXPECT_EQ(meter.results()[0].reference, 1);
  EXPECT_EQ(meter.results()[0].candidate, 1);
  EXPECT_EQ(meter.results()[1].name, "map50_95");
  EXPECT_EQ(meter.results()[1].reference, 1);
  EXPECT_DOUBLE_EQ(meter.results()[1].candidate,
                   0.5);  // the overlap is 17/23, which passes the thresholds 0.5 to 0.7
  add(ours, none);
  EXPECT_EQ(meter.results()[0].candidate, 0.5);
}

TEST(DetectionLayoutTest, LabelsMayBeShares) {
  DetectionMeter meter({described("y", ElementType::kFloat, {1, 6, 20})}, 0.05);
  const Tensor ours = table(with_nothing({100, 50, 20, 10, 0.1F, 0.9F}, 20), true);
  const Tensor label = tensor_of<float>({1, 5}, {0.45F, 0.45F, 0.55F, 0.55F, 1});
  const data::TensorView a = ours;
  meter.add({{&a, 1}, {&a, 1}, &label, {}, "a.jpg", 200, 100});
  EXPECT_EQ(meter.results()[0].reference, 1);
}

}  // namespace
}  // namespace ounce::evaluate
