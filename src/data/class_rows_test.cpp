#include "data/class_rows.h"

#include <gmock/gmock.h>

#include <numeric>

#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using test::described;
using testing::ElementsAre;

std::optional<std::size_t> axis_of(const Dims& dims) {
  return class_axis(described("y", ElementType::kFloat, dims));
}

TEST(ClassRowsTest, ClassesAreTheLastAxisOfScoresAndSequences) {
  EXPECT_EQ(axis_of({-1, 10}), 1U);
  EXPECT_EQ(axis_of({-1, -1, 30}), 2U);
}

TEST(ClassRowsTest, ClassesAreTheSecondAxisOfPictures) {
  EXPECT_EQ(axis_of({-1, 21, 8, 8}), 1U);
  EXPECT_EQ(axis_of({-1, 21, 4, 8, 8}), 1U);
}

TEST(ClassRowsTest, AFreeAxisAndASingleScoreAreNoClasses) {
  EXPECT_EQ(axis_of({-1, -1}), std::nullopt);
  EXPECT_EQ(axis_of({-1, 1}), std::nullopt);
  EXPECT_EQ(axis_of({10}), std::nullopt);
  EXPECT_EQ(axis_of({}), std::nullopt);
}

TEST(ClassRowsTest, RowsOfPixelsReachAcrossThePlanes) {
  std::vector<float> scores(2 * 3 * 4);
  std::iota(scores.begin(), scores.end(), 0.F);
  const ClassRows rows(scores, {2, 3, 2, 2}, 1);
  EXPECT_EQ(rows.rows(), 8U);
  EXPECT_EQ(rows.classes(), 3U);
  EXPECT_EQ(rows.score(1, 2), 9);   // image 0, class 2, pixel 1
  EXPECT_EQ(rows.score(5, 0), 13);  // image 1, class 0, pixel 1
}

TEST(ClassRowsTest, TheFirstAmongEqualsIsTheBest) {
  const std::vector<float> scores = {1, 7, 7, 3, 7, 0};
  const ClassRows rows(scores, {1, 6}, 1);
  EXPECT_EQ(rows.best(0), 1U);
  std::vector<std::size_t> best;
  rows.best(0, 4, best);
  EXPECT_THAT(best, ElementsAre(1, 2, 4, 3));
}

TEST(ClassRowsTest, AsksForNoMoreClassesThanThereAre) {
  const std::vector<float> scores = {1, 2, 3};
  std::vector<std::size_t> best = {9, 9, 9, 9};
  ClassRows(scores, {1, 3}, 1).best(0, 5, best);
  EXPECT_THAT(best, ElementsAre(2, 1, 0));
}

TEST(ClassRowsTest, AnEmptyOutputHasNoRows) {
  EXPECT_EQ(ClassRows({}, {0, 3}, 1).rows(), 0U);
  EXPECT_EQ(ClassRows({}, {1, 3, 0, 2}, 1).rows(), 0U);
}

}  // namespace
}  // namespace ounce::data
