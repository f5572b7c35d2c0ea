#include "search/tune/evaluator.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace ounce::search {
namespace {

struct ClockTest : testing::Test {
  double now = 100;
  Clock::Now time = [this] { return now; };
};

TEST_F(ClockTest, WhatWasKnownCountsWithTheTimeThatItTook) {
  Clock clock({.seconds = 10}, time);
  now += 2;
  clock.credit(3);
  EXPECT_DOUBLE_EQ(clock.elapsed(), 5);
  EXPECT_DOUBLE_EQ(clock.left(), 5);
  EXPECT_DOUBLE_EQ(clock.real_seconds(), 2);
}

TEST_F(ClockTest, ModelsAreCountedAndNoTimePasses) {
  Clock clock({.models = 3}, time);
  now += 1e9;
  clock.credit(1e9);
  EXPECT_DOUBLE_EQ(clock.left(), 3);
  clock.count(2);
  EXPECT_DOUBLE_EQ(clock.left(), 1);
  EXPECT_EQ(ounce::test::error_of([&] { clock.count(2); }).code(), ErrorCode::kCancelled);
  clock.count(1);
  EXPECT_DOUBLE_EQ(clock.left(), 0);
}

TEST_F(ClockTest, ATimeSetsNoLimitToModels) {
  Clock clock({.seconds = 10}, time);
  clock.count(1'000'000);
  EXPECT_DOUBLE_EQ(clock.left(), 10);
}

}  // namespace
}  // namespace ounce::search
