#include "search/tune/journal.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <cmath>
#include <limits>

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// As a journal keeps it: written to text and read again.
TuneTrial kept(const TuneTrial& trial) { return trial_of(json::parse(trial_json(trial).dump())); }

TuneTrial some_trial() {
  TuneTrial trial;
  trial.bytes = 123456789012;
  trial.sqnr_db = 31.25;
  trial.agreement = 0.875;
  trial.metric = MetricResult{"top1_accuracy", true, 0.75, 0.5, 0.25, 0.125, 0.375};
  trial.passed = true;
  trial.verdict = "passed: „y“ is fine";
  trial.metric->drop_bound = 0.4375;
  trial.samples = 50;
  trial.samples_needed = 120;
  trial.has_too_few_samples = true;
  return trial;
}

TEST(MeasurementJsonTest, ATrialIsKept) {
  const TuneTrial trial = some_trial(), again = kept(trial);
  EXPECT_EQ(again.bytes, trial.bytes);
  EXPECT_EQ(again.sqnr_db, trial.sqnr_db);
  EXPECT_EQ(again.agreement, trial.agreement);
  EXPECT_EQ(again.passed, trial.passed);
  EXPECT_EQ(again.verdict, trial.verdict);
  EXPECT_EQ(again.problem, "");
  ASSERT_TRUE(again.metric);
  EXPECT_EQ(again.metric->name, "top1_accuracy");
  EXPECT_TRUE(again.metric->higher_is_better);
  EXPECT_EQ(again.metric->unit, MetricUnit::kShare);
  EXPECT_EQ(again.metric->reference, 0.75);
  EXPECT_EQ(again.metric->candidate, 0.5);
  EXPECT_EQ(again.metric->drop, 0.25);
  EXPECT_EQ(again.metric->drop_low, 0.125);
  EXPECT_EQ(again.metric->drop_high, 0.375);
  EXPECT_EQ(again.metric->drop_bound, 0.4375);
  EXPECT_EQ(again.samples, 50);
  EXPECT_EQ(again.samples_needed, 120);
  EXPECT_TRUE(again.has_too_few_samples);
}

TEST(MeasurementJsonTest, WhatIsNotThereStaysSo) {
  TuneTrial trial;
  trial.problem = "no kernel";
  const TuneTrial again = kept(trial);
  EXPECT_EQ(again.problem, "no kernel");
  EXPECT_FALSE(again.agreement);
  EXPECT_FALSE(again.metric);
  EXPECT_FALSE(again.held_out);
}

TEST(MeasurementJsonTest, InfinitiesKeepTheirSign) {
  TuneTrial trial;
  for (const double sqnr : {kInfinity, -kInfinity, 0.0, -3.5}) {
    trial.sqnr_db = sqnr;
    EXPECT_EQ(kept(trial).sqnr_db, sqnr);
  }
  trial.sqnr_db = std::nan("");  // no sample could be compared
  EXPECT_TRUE(std::isnan(kept(trial).sqnr_db));
}

TEST(MeasurementJsonTest, AMetricThatIsNoNumberStaysNone) {
  TuneTrial trial = some_trial();
  trial.metric->candidate = kInfinity;
  trial.metric->drop = std::nan("");
  const TuneTrial again = kept(trial);
  EXPECT_FALSE(std::isfinite(again.metric->candidate));
  EXPECT_TRUE(std::isnan(again.metric->drop));
  EXPECT_EQ(again.metric->reference, 0.75);
}

TEST(MeasurementJsonTest, ASpeedUpIsKept) {
  SpeedUp speed;
  speed.ratio = 1.5;
  speed.low = 1.25;
  speed.high = 1.75;
  speed.rounds = 321;
  speed.is_measurable = true;
  const SpeedUp again = speed_of(json::parse(speed_json(speed).dump()));
  EXPECT_EQ(again.ratio, 1.5);
  EXPECT_EQ(again.low, 1.25);
  EXPECT_EQ(again.high, 1.75);
  EXPECT_EQ(again.rounds, 321U);
  EXPECT_TRUE(again.is_measurable);
  speed.ratio = std::nan("");
  EXPECT_EQ(speed_of(speed_json(speed)).ratio, 1);  // no difference was seen
}

TEST(MeasurementJsonTest, NumbersStandInForWhatJsonLacks) {
  EXPECT_EQ(number_or(number(kInfinity), 7), kInfinity);
  EXPECT_EQ(number_or(number(-kInfinity), 7), -kInfinity);
  EXPECT_TRUE(std::isnan(number_or(number(std::nan("")), 7)));
  EXPECT_EQ(number(2.5), json(2.5));
  EXPECT_EQ(number_or(json(nullptr), 7), 7);
  EXPECT_EQ(number_or(json("text"), 7), 7);
  EXPECT_EQ(number_or(json(3), 7), 3);
}

}  // namespace
}  // namespace ounce::search
