#include "evaluate/timing/rounds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ounce/error.h>

namespace ounce::evaluate {
namespace {

std::string kernel(const char* node, const char* op, int begin, int microseconds) {
  return fmt::format(
      R"({{"cat":"Node","name":"{}_kernel_time","ts":{},"dur":{},"args":{{"op_name":"{}"}}}},)", node, begin,
      microseconds, op);
}
const std::string kRun = R"({"cat":"Session","name":"model_run","ts":0,"dur":500},)";

Profile of(const std::string& events) {
  return profile_of("[" + events + R"({"cat":"Session","name":"x"}])");
}

TEST(Profile, AddsUpNodesByOpTheDearestFirst) {
  const Profile profile = of(kRun + kernel("a", "Relu", 0, 10) + kernel("b", "QLinearConv", 20, 60) +
                             kernel("c", "QLinearConv", 90, 30));
  EXPECT_EQ(profile.runs, 1);
  EXPECT_NEAR(profile.seconds, 100e-6, 1e-12);
  EXPECT_NEAR(profile.integer_share, 0.9, 1e-9);
  ASSERT_EQ(profile.ops.size(), 2U);
  EXPECT_EQ(profile.ops[0].op_type, "QLinearConv");
  EXPECT_EQ(profile.ops[0].nodes, 2);
  EXPECT_NEAR(profile.ops[0].seconds, 90e-6, 1e-12);
  ASSERT_EQ(profile.nodes.size(), 3U);
  EXPECT_EQ(profile.nodes[0].node, "b");
}

TEST(Profile, TakesTheMedianOfTheRuns) {
  const Profile profile = of(kRun + kRun + kRun + kernel("a", "Conv", 0, 10) + kernel("a", "Conv", 100, 900) +
                             kernel("a", "Conv", 1100, 12));
  EXPECT_EQ(profile.runs, 3);
  EXPECT_NEAR(profile.seconds, 12e-6, 1e-12);
  EXPECT_EQ(profile.integer_share, 0);
}

TEST(Profile, ANodeWithABodyDoesNotCountWhatIsInside) {
  const Profile profile = of(kRun + kernel("inner", "Conv", 10, 50) + kernel("inner", "Conv", 60, 30) +
                             kernel("loop", "Loop", 0, 100));
  ASSERT_EQ(profile.nodes.size(), 2U);
  EXPECT_EQ(profile.nodes[0].node, "inner");
  EXPECT_NEAR(profile.nodes[0].seconds, 80e-6, 1e-12);  // both iterations of the loop
  EXPECT_NEAR(profile.nodes[1].seconds, 20e-6, 1e-12);
}

TEST(Profile, OtherEventsAreLeftOut) {
  const Profile profile =
      of(R"({"cat":"Node","name":"a_fence_before","ts":0,"dur":9,"args":{"op_name":"Conv"}},)" + kRun +
         kernel("a", "MatMulInteger", 0, 10));
  EXPECT_NEAR(profile.seconds, 10e-6, 1e-12);
  EXPECT_NEAR(profile.integer_share, 1, 1e-9);
}

TEST(Profile, WhatIsNoProfileIsRefused) { EXPECT_THROW(profile_of("not json"), Error); }

}  // namespace
}  // namespace ounce::evaluate
