// What people and programs get to see of a search.
#include "report/tune_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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
  result.trials = {trial("static", 1.5), trial("static", 2)};
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
  EXPECT_LT(text.find("1.50 ×"), text.find("◀ best"));
  EXPECT_LT(text.find("2.00 ×"), text.find("◀ best"));
}

TEST(TuneReportTest, WhatPassesButIsSlowerIsSaidToBe) {
  TuneResult result = two_of_one_name();
  result.passed = false;
  result.output.clear();
  result.closest = "small.closest.onnx";
  result.trials[1] = result.best = trial("static", 0.8);
  const std::string text = tune_text(result);
  EXPECT_THAT(text, HasSubstr("passed, but slower"));
  EXPECT_THAT(text, HasSubstr("closest came static: 40.0 dB, 30 wanted, but it is slower than the original"));
  EXPECT_THAT(text, Not(HasSubstr("best")));
}

TEST(TuneReportTest, NothingIsCalledFastThatWasNotTimed) {
  TuneResult result = two_of_one_name();
  for (TuneTrial* untimed : {&result.trials[0], &result.trials[1], &result.best}) untimed->is_timed = false;
  const std::string text = tune_text(result);
  EXPECT_THAT(text, Not(HasSubstr("×")));
  EXPECT_THAT(text, HasSubstr("not timed"));
  EXPECT_TRUE(tune_json({{"model.onnx", result, "", 0}})["models"][0]["best"]["speed_up"].is_null());
}

TEST(TuneReportTest, TimesHaveTheirRange) {
  const auto json = tune_json({{"model.onnx", two_of_one_name(), "", 0}});
  EXPECT_EQ(json["models"][0]["best"]["speed_up"],
            (nlohmann::ordered_json{{"ratio", 2.0}, {"low", 1.0}, {"high", 1.0}, {"measurable", false}}));
  EXPECT_EQ(json["models"][0]["best"]["slower"], false);
}

TEST(TuneReportTest, NoTimeForASingleModelIsExplained) {
  TuneResult result;
  result.model = "model.onnx";
  result.is_out_of_time = true;
  result.notes = {"there was no time to make a single model"};
  const std::string text = tune_text(result);
  EXPECT_THAT(text, HasSubstr("no time to make a single model"));
  EXPECT_THAT(text, HasSubstr("more --budget"));
}

}  // namespace
}  // namespace ounce::report
