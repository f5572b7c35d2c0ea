#include "report/reports.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ounce::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(SqnrWordsTest, DecibelsAreAShareOfTheSize) {
  EXPECT_EQ(sqnr_words(40), "output error 1 %: predictions very rarely change");
  EXPECT_THAT(sqnr_words(20), HasSubstr("output error 10 %"));
  EXPECT_THAT(sqnr_words(70), HasSubstr("0.032 %"));
}

TEST(SqnrWordsTest, BelowTwentyItIsAWarning) {
  EXPECT_THAT(sqnr_words(19.4), StartsWith("warning: output error 11 %"));
  EXPECT_THAT(sqnr_words(-3), StartsWith("warning: output error 100 % or more"));
  EXPECT_THAT(sqnr_words(20), Not(StartsWith("warning")));
  EXPECT_THAT(sqnr_words(0.01), StartsWith("warning: output error 100 % or more"));
  EXPECT_THAT(sqnr_words(0.1), StartsWith("warning: output error 99 %"));
}

TEST(SqnrWordsTest, OfLabelsTheyAreTheShareThatChanged) {
  EXPECT_EQ(label_words(30), "0.1 % of the labels changed");
  EXPECT_EQ(label_words(10), "warning: 10 % of the labels changed");
  EXPECT_EQ(label_words(0), "warning: 100 % of the labels changed");
  EXPECT_EQ(label_words(std::numeric_limits<double>::infinity()), "");
}

TEST(SqnrWordsTest, WhereNothingDiffersThereIsNothingToSay) {
  EXPECT_EQ(sqnr_words(std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(sqnr_words(std::nan("")), "");
}

}  // namespace
}  // namespace ounce::report
