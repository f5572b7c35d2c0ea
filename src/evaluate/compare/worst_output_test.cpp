#include "evaluate/compare/worst_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ounce::evaluate {
namespace {

constexpr double kNoNoise = std::numeric_limits<double>::infinity();

OutputComparison output(const std::string& type, double sqnr_db) {
  OutputComparison made;
  made.type = type;
  made.is_label = type.starts_with("int");
  made.values = 10;
  made.sqnr_db = sqnr_db;
  return made;
}

TEST(WorstOutputTest, TheFarthestCounts) {
  EXPECT_EQ(worst_sqnr({output("float32[1]", 40), output("float16[1]", 30)}), 30);
  EXPECT_NEAR(worst_noise({output("float32[1]", 40), output("float32[1]", 30)}), 1e-3, 1e-12);
  EXPECT_EQ(worst_sqnr({}), kNoNoise);
  EXPECT_EQ(worst_noise({}), 0);
}

TEST(WorstOutputTest, ASliceMayBeFartherThanItsOutput) {
  OutputComparison sliced = output("float32[1]", 40);
  OutputSlice slice;
  slice.name = "y[:, 4:84, :]";
  slice.sqnr_db = 5;
  sliced.slices = {slice};
  const std::vector<OutputComparison> outputs = {output("float32[1]", 30), sliced};
  EXPECT_EQ(worst_sqnr(outputs), 5);
  ASSERT_NE(worst_slice(outputs), nullptr);
  EXPECT_EQ(worst_slice(outputs)->name, "y[:, 4:84, :]");
  EXPECT_EQ(worst_slice({output("float32[1]", 30)}), nullptr);
}

TEST(WorstOutputTest, StatesDoNotCount) {
  OutputComparison state = output("float32[1]", 3);
  state.is_state = true;
  state.newly_not_finite = 1;
  EXPECT_EQ(worst_sqnr({state, output("float32[1]", 30)}), 30);
}

TEST(WorstOutputTest, ClassesCountOnlyWhereThereAreNoScores) {
  EXPECT_EQ(worst_sqnr({output("int64[1]", 3), output("float32[1]", 30)}), 30);
  EXPECT_EQ(worst_sqnr({output("int64[1]", 3)}), 3);
}

TEST(WorstOutputTest, OutputsThatAreNotJudgedDoNotCount) {
  OutputComparison other = output("float32[1]", 3);
  other.is_judged = false;
  other.newly_not_finite = 1;
  other.top1_agreement = 0.1;
  EXPECT_EQ(worst_sqnr({other, output("float32[1]", 30)}), 30);
  EXPECT_EQ(worst_sqnr({other, output("int64[1]", 12)}), 12) << "only the labels are judged";
  EXPECT_FALSE(least_agreement({other}));
  EXPECT_TRUE(is_wanted({}, "y"));
  EXPECT_TRUE(is_wanted({"x", "y"}, "y"));
  EXPECT_FALSE(is_wanted({"x"}, "y"));
}

TEST(WorstOutputTest, ADetectorThatFindsNothingHasNoFigure) {
  OutputComparison silent = output("float32[1]", std::nan(""));
  silent.silent_values = silent.values;
  EXPECT_TRUE(std::isnan(worst_sqnr({silent})));
  EXPECT_EQ(worst_noise({silent}), 0);
  EXPECT_EQ(worst_sqnr({silent, output("float32[1]", 30)}), 30);
}

TEST(WorstOutputTest, WhatIsNoNumberAnyMoreIsAsBadAsCanBe) {
  OutputComparison broken = output("float32[1]", 30);
  broken.newly_not_finite = 1;
  EXPECT_EQ(worst_sqnr({output("float32[1]", 40), broken}), -kNoNoise);
  EXPECT_EQ(worst_noise({broken}), kNoNoise);
}

TEST(WorstOutputTest, TheLeastAgreementCountsAndThatOfStatesDoesNot) {
  OutputComparison state = output("float32[1]", 3), first = output("float32[1]", 30), second = first;
  state.is_state = true;
  state.top1_agreement = 0.25;
  first.top1_agreement = 0.75;
  EXPECT_EQ(least_agreement({state, first, second}), 0.75);
  EXPECT_FALSE(least_agreement({second}));
}

TEST(WorstOutputTest, AStateIsWhatIsCarried) {
  const std::map<std::string, std::string> carry = {{"state", "state_out"}};
  EXPECT_TRUE(is_state(carry, "state_out"));
  EXPECT_FALSE(is_state(carry, "state"));
}

}  // namespace
}  // namespace ounce::evaluate
