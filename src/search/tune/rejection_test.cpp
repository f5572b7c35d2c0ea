#include "search/tune/evaluator.h"

#include <gtest/gtest.h>

namespace ounce::search {
namespace {

TuneTrial passed() {
  TuneTrial trial;
  trial.ratio = 0.26;
  trial.is_timed = true;
  trial.passed = true;
  trial.samples = 300;
  return trial;
}

TuneTrial failed(const std::string& verdict) {
  TuneTrial trial = passed();
  trial.passed = false;
  trial.verdict = "failed: " + verdict;
  trial.confidence = 0.9;
  return trial;
}

std::string reason(const TuneTrial& trial, const TuneTrial* held_out = nullptr) {
  return rejection_of(trial, Objective::kBalanced, held_out);
}

TEST(RejectionTest, WhatMayBeTheAnswerHasNoReason) { EXPECT_EQ(reason(passed()), ""); }

TEST(RejectionTest, TooFewSamplesAreCounted) {
  TuneTrial trial = failed("top1_accuracy is better by 0.34 points, but 300 samples show only …");
  trial.samples_needed = 307;
  EXPECT_EQ(reason(trial), "300 of 307 samples needed at 90 % confidence");
  trial.verdict += " (and 1 more)";
  EXPECT_EQ(reason(trial), "300 of 307 samples needed at 90 % confidence (and 1 more)");
}

TEST(RejectionTest, AGateThatFailsIsNamedWithItsFigures) {
  const std::string gate =
      "top1_accuracy is worse by 1.60 points, more than the 1.00 points of `gates.max_drop`";
  EXPECT_EQ(reason(failed(gate)), gate);
}

TEST(RejectionTest, HeldOutDataHasItsOwnReason) {
  TuneTrial trial = passed();
  trial.held_out = false;
  EXPECT_EQ(reason(trial), "fails on held-out data");
  TuneTrial refused = failed("output 'y' has 24.0 dB, 6.0 dB less than the 30 dB of `gates.min_sqnr`");
  EXPECT_EQ(reason(trial, &refused),
            "on held-out data: output 'y' has 24.0 dB, 6.0 dB less than the 30 dB of `gates.min_sqnr`");
  refused.samples = 600;
  EXPECT_EQ(reason(trial, &refused).substr(0, 16), "on all samples: ");
  refused.samples_needed = 614;
  EXPECT_EQ(reason(trial, &refused), "600 of 614 samples needed at 90 % confidence");
}

TEST(RejectionTest, SpeedAndSizeAreReasons) {
  TuneTrial trial = passed();
  trial.is_slower = true;
  trial.speed_up.ratio = 0.8;
  EXPECT_EQ(reason(trial), "slower than the original (0.80 ×)");
  EXPECT_EQ(rejection_of(trial, Objective::kMemory), "0.80 × the original's speed, 0.90 needed");
  trial.is_timed = false;
  EXPECT_EQ(rejection_of(trial, Objective::kMemory), "not timed, as the machine was too busy");
  TuneTrial large = passed();
  large.ratio = 1;
  EXPECT_EQ(reason(large), "not smaller or faster than the original");
}

TEST(RejectionTest, AModelThatCouldNotBeMadeSaysWhy) {
  TuneTrial trial;
  trial.problem = "no kernel";
  EXPECT_EQ(reason(trial), "no kernel");
}

}  // namespace
}  // namespace ounce::search
