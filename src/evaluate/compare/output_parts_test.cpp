#include "evaluate/compare/worst_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::ValueDescription;

Tensor output_of(data::Dims dims, const std::vector<float>& values) {
  Tensor tensor{ElementType::kFloat, std::move(dims), std::string(values.size() * sizeof(float), '\0')};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

ValueDescription output(const std::string& name, ElementType type = ElementType::kFloat) {
  ValueDescription described;
  described.name = name;
  described.element = type;
  return described;
}

// An output [1, 3, 32]: two rows of box coordinates in pixels, one of scores.
std::vector<float> detections() {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(100.0F + static_cast<float>(i));
  for (int i = 0; i < 32; ++i) values.push_back(.03F * static_cast<float>(i));
  return values;
}

ReferenceRun run_of(std::vector<Tensor> outputs) {
  ReferenceRun run;
  run.outputs = std::move(outputs);
  return run;
}

std::vector<double> noise(const OutputParts& parts, const std::vector<Tensor>& before,
                          const std::vector<Tensor>& after) {
  const std::vector<data::TensorView> given(after.begin(), after.end());
  std::vector<Difference> sums(parts.size());
  EXPECT_TRUE(parts.add(before, given, sums));
  std::vector<double> all;
  for (const Difference& sum : sums) all.push_back(sum.squared / sum.reference);
  return all;
}

TEST(OutputParts, ScoresBesideBoxesCountByThemselves) {
  const std::vector<Tensor> before = {output_of({1, 3, 32}, detections())};
  std::vector<ReferenceRun> runs;
  runs.push_back(run_of(before));
  const OutputParts parts({output("y")}, {}, runs);
  ASSERT_EQ(parts.size(), 3U);  // the whole output, boxes, scores
  std::vector<float> changed = detections();
  for (std::size_t i = 64; i < 96; ++i) changed[i] = 0;  // no detections are left
  const std::vector<double> noises = noise(parts, before, {output_of({1, 3, 32}, changed)});
  EXPECT_LT(noises[0], 1e-4);
  EXPECT_DOUBLE_EQ(*std::max_element(noises.begin(), noises.end()), 1);
}

TEST(OutputParts, StatesDoNotCountAndFloatsComeBeforeClasses) {
  const std::vector<ReferenceRun> runs;
  EXPECT_EQ(OutputParts({output("y"), output("state")}, {{"s", "state"}}, runs).size(), 1U);
  EXPECT_EQ(OutputParts({output("y"), output("class", ElementType::kInt64)}, {}, runs).size(), 1U);
  EXPECT_EQ(OutputParts({output("class", ElementType::kInt64)}, {}, runs).size(), 1U);
}

TEST(OutputParts, OnlyTheWantedOnesCount) {
  EXPECT_EQ(OutputParts({output("y"), output("z")}, {}, {}).size(), 2U);
  EXPECT_EQ(OutputParts({output("y"), output("z")}, {}, {}, {"z"}).size(), 1U);
}

TEST(OutputParts, LabelsThatChangeAreNoise) {
  const auto classes = [](std::int64_t first) {
    Tensor tensor{ElementType::kInt64, {2}, std::string(2 * sizeof(std::int64_t), '\0')};
    std::memcpy(tensor.bytes.data(), &first, sizeof first);
    return tensor;
  };
  const OutputParts parts({output("class", ElementType::kInt64)}, {}, {});
  EXPECT_EQ(noise(parts, {classes(1)}, {classes(900)}), std::vector<double>{0.5})
      << "one of two labels changed, by any difference";
}

TEST(OutputParts, OtherShapesCannotBeCompared) {
  const std::vector<Tensor> before = {output_of({1, 2}, {1, 2})}, after = {output_of({2, 1}, {1, 2})};
  const OutputParts parts({output("y")}, {}, {});
  std::vector<Difference> sums(parts.size());
  const std::vector<data::TensorView> given(after.begin(), after.end());
  EXPECT_FALSE(parts.add(before, given, sums));
}

TEST(OutputParts, NumbersThatAreNoneAnyMoreCannotEither) {
  const std::vector<Tensor> before = {output_of({1, 2}, {1, 2})}, after = {output_of({1, 2}, {1, HUGE_VALF})};
  const OutputParts parts({output("y")}, {}, {});
  std::vector<Difference> sums(parts.size());
  const std::vector<data::TensorView> given(after.begin(), after.end());
  EXPECT_FALSE(parts.add(before, given, sums));
}

}  // namespace
}  // namespace ounce::evaluate
