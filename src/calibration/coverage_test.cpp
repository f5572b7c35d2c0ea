#include "calibration/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace ounce::calibration {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Coverage covering(const std::vector<SampleRun>& runs, std::uint64_t size = 10) {
  Coverage coverage("data", size, 0, size);
  for (const SampleRun& run : runs) coverage.add(run);
  return coverage;
}

TEST(CoverageTest, PartsAddUpToTheWholeInAnyOrder) {
  const Coverage parts[] = {covering({{0, 3, 4}}), covering({{1, 3, 3}}), covering({{2, 3, 3}})};
  for (const auto& order : {std::vector{0, 1, 2}, std::vector{2, 0, 1}, std::vector{1, 2, 0}}) {
    Coverage all = covering({});
    for (const int part : order) {
      EXPECT_THAT(all.overlap(parts[part]), IsEmpty());
      all.add(parts[part]);
    }
    EXPECT_THAT(all.runs(), ElementsAre(SampleRun{0, 1, 10}));
    EXPECT_THAT(all.missing(), IsEmpty());
  }
}

// Runs do not depend on the order in which samples were added.
TEST(CoverageTest, RunsDependOnTheSamplesAlone) {
  EXPECT_THAT(covering({{0, 3, 4}}).runs(), ElementsAre(SampleRun{0, 3, 4}));
  EXPECT_THAT(covering({{9, 1, 1}, {3, 3, 2}, {0, 1, 1}}).runs(), ElementsAre(SampleRun{0, 3, 4}));
  EXPECT_THAT(covering({{7, 5, 1}}).runs(), ElementsAre(SampleRun{7, 1, 1}));
  EXPECT_THAT(covering({}).runs(), IsEmpty());
  EXPECT_THAT(covering({{0, 1, 2}, {5, 1, 1}}).runs(), ElementsAre(SampleRun{0, 1, 2}, SampleRun{5, 1, 1}));
}

TEST(CoverageTest, OverlapsAndGapsAreFound) {
  const Coverage even = covering({{0, 2, 5}}), first = covering({{0, 1, 5}});
  EXPECT_THAT(even.overlap(first), ElementsAre(SampleRun{0, 2, 3}));
  EXPECT_THAT(even.overlap(even), ElementsAre(SampleRun{0, 2, 5}));
  EXPECT_THAT(even.missing(), ElementsAre(SampleRun{1, 2, 5}));
  EXPECT_EQ(text_of(even.missing()), "samples 2, 4, 6 …");
  EXPECT_EQ(text_of({{4, 1, 1}}), "sample 5");
  Coverage other("other data", 10, 0, 10);
  other.add({0, 1, 10});
  EXPECT_THAT(even.overlap(other), IsEmpty());
}

// Samples outside the requested window are not missing.
TEST(CoverageTest, OnlyWhatWasAskedForIsMissing) {
  Coverage coverage("data", 100, 10, 14);
  coverage.add({10, 2, 2});
  EXPECT_THAT(coverage.missing(), ElementsAre(SampleRun{11, 2, 2}));
  coverage.add({11, 2, 2});
  EXPECT_THAT(coverage.missing(), IsEmpty());
}

TEST(CoverageTest, WhatCannotBeIsRefused) {
  const std::uint64_t most = UINT64_MAX;
  for (const SampleRun& run :
       {SampleRun{10, 1, 1}, SampleRun{0, 1, 11}, SampleRun{0, 0, 2}, SampleRun{0, most, 3},
        SampleRun{9, 1, most}, SampleRun{most, 1, 1}, SampleRun{1, 3, 4}})
    EXPECT_EQ(test::error_of([&] { covering({run}); }).code(), ErrorCode::kBadInput) << run.first;
  EXPECT_EQ(test::error_of([&] { covering({{0, 1, 3}, {2, 1, 1}}); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(test::error_of([&] { Coverage("data", most, 0, 1); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(test::error_of([&] { Coverage("data", 10, 5, 4); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(test::error_of([&] { Coverage("data", 10, 0, 11); }).code(), ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce::calibration
