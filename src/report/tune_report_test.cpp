// The text and the JSON of a search.
#include "report/reports.h"

#include <gmock/gmock.h>

namespace ounce::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TuneTrial trial(const std::string& name, double speed) {
  TuneTrial made;
  made.name = name;
  made.ratio = 0.25;
  made.is_timed = true;
  made.speed_up.ratio = speed;
  made.is_slower = speed < 0.98;
  if (made.is_slower) made.reason = "slower than the original (0.80 ×)";
  made.sqnr_db = 40;
  made.passed = true;
  made.verdict = "40.0 dB, 30 wanted";
  return made;
}

// The second of two with the same name was the best.
TuneResult two_of_one_name() {
  TuneResult result;
  result.model = "model.onnx";
  result.output = "small.onnx";
  result.passed = true;
  result.trials = {trial("int8", 1.5), trial("int8", 2)};
  result.best_trial = 1;
  result.best = result.trials[1];
  return result;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(TuneReportTest, OneRowIsTheBestThoughNamesRepeat) {
  const std::string text = tune_text(two_of_one_name());
  EXPECT_EQ(count_of(text, "◀ best"), 1U);
  EXPECT_LT(text.find("1.50×"), text.find("◀ best"));
  EXPECT_LT(text.find("2.00×"), text.find("◀ best"));
}

TEST(TuneReportTest, WhatPassesButIsSlowerIsSaidToBe) {
  TuneResult result = two_of_one_name();
  result.passed = false;
  result.output.clear();
  result.closest = "small.closest.onnx";
  result.trials[1] = result.best = trial("int8", 0.8);
  const std::string text = tune_text(result);
  EXPECT_THAT(text, HasSubstr("passed, but slower"));
  EXPECT_THAT(text,
              HasSubstr("the closest candidate is int8: 40.0 dB, 30 wanted, but slower than the original"));
  EXPECT_THAT(text, Not(HasSubstr("best")));
}

TEST(TuneReportTest, NothingIsCalledFastThatWasNotTimed) {
  TuneResult result = two_of_one_name();
  for (TuneTrial* untimed : {&result.trials[0], &result.trials[1], &result.best}) untimed->is_timed = false;
  const std::string text = tune_text(result);
  EXPECT_THAT(text, Not(HasSubstr("×")));
  EXPECT_THAT(text, HasSubstr("speed not measured"));
}

TEST(TuneReportTest, EveryRejectedModelHasItsReasonInTheTable) {
  TuneResult result = two_of_one_name();
  TuneTrial failed = trial("int8", 1.9);
  failed.passed = false;
  failed.samples = 300;
  failed.samples_needed = 307;
  failed.confidence = 0.9;
  failed.more_samples = 14;
  failed.reason = "300 of 307 samples needed at 90 % confidence";
  TuneTrial useless = trial("w16", 1);
  useless.reason = "not smaller or faster than the original";
  TuneTrial lossy = trial("w4", 1);
  lossy.passed = false;
  lossy.reason = "top1_accuracy is worse by 1.60 points, more than the 1.00 points of `gates.max_drop`";
  TuneTrial refused = trial("int8-dynamic", 1);
  refused.held_out = false;
  refused.reason = "on held-out data: output 'y' has 24.0 dB";
  result.trials.insert(result.trials.end(), {failed, useless, lossy, refused});
  const std::string text = tune_text(result);
  EXPECT_THAT(text, HasSubstr("failed: 300 of 307 samples needed at 90 % confidence\n"));
  EXPECT_THAT(text, HasSubstr("passed, but not smaller or faster than the original\n"));
  EXPECT_THAT(text, HasSubstr("failed: top1_accuracy is worse by 1.60 points, more than the 1.00 points of "
                              "--max-drop\n"));
  EXPECT_THAT(text, HasSubstr("failed: on held-out data: output 'y' has 24.0 dB\n"));
}

TEST(TuneReportTest, MissingSamplesAreCounted) {
  TuneResult result = two_of_one_name();
  result.passed = false;
  result.closest = "small.closest.onnx";
  result.samples_needed = 149;
  result.best.more_samples = 85;
  EXPECT_THAT(tune_text(result), HasSubstr("not enough samples: 149 needed, 64 given; "));
}

TEST(TuneReportTest, NoTimeForASingleModelIsExplained) {
  TuneResult result;
  result.model = "model.onnx";
  result.is_out_of_time = true;
  result.notes = {"there was no time to make a single model"};
  const std::string text = tune_text(result);
  EXPECT_THAT(text, HasSubstr("no time to make a single model"));
  EXPECT_THAT(text, HasSubstr("increase --budget"));
}

}  // namespace
}  // namespace ounce::report
