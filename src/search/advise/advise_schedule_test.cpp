// The schedule of advise() on a virtual clock: an idle and a busy machine give the same findings if the
// budget allows it.
#include "search/advise/methods.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>

namespace ounce::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ScriptedLab : MethodLab {
  double budget = 10, now = 1, slowdown = 1;  // the baseline took a second
  double timing = 0.8;                        // seconds of the shortest usable timing
  std::map<Format, double> making = {{Format::kInt8, 2}, {Format::kW8, 0.5}, {Format::kW4, 1.5}};
  double guess = 1;          // estimates are off by this factor until a method has been made
  bool has_learned = false;  // a method has been made
  bool is_reliable = true;
  std::uint64_t samples = 300, needed = 0;  // compared at first, and needed for the confidence
  double comparing = 0;                     // seconds to compare `needed` samples; 0: the data has too few
  std::vector<std::string> log;

  double left() const override { return budget - now; }
  double making_estimate(Format format) const override {
    return slowdown * making.at(format) * (has_learned ? 1 : guess);
  }
  double timing_estimate() const override { return slowdown * timing; }
  void make(double limit, MethodFinding& finding) override {
    const double seconds = slowdown * making.at(finding.format);
    now += std::min(seconds, limit);
    log.push_back(fmt::format("make {}", name_of(finding.format)));
    finding.is_measured = seconds <= limit;
    finding.is_out_of_time = !finding.is_measured;
    if (finding.is_out_of_time) finding.why_not = "stopped";
    has_learned = has_learned || finding.is_measured;
    finding.is_acceptable = finding.is_measured && samples >= needed;
    finding.is_uncertain = finding.is_measured && samples < needed;
  }
  double certainty_estimate(const MethodFinding&) const override { return slowdown * comparing; }
  void compare_more(double limit, MethodFinding& finding) override {
    log.push_back(fmt::format("compare {}", name_of(finding.format)));
    EXPECT_LE(slowdown * comparing, limit);
    now += slowdown * comparing;
    finding.is_acceptable = true;
    finding.is_uncertain = false;
  }
  void time(double seconds, MethodFinding& finding) override {
    log.push_back(fmt::format("time {}", name_of(finding.format)));
    const double used = std::min(seconds, left());
    now += used;
    finding.speed_up.rounds =
        static_cast<std::uint64_t>(SpeedUp::kLeastRounds * used / (slowdown * timing) + 1e-9);
    finding.speed_up.ratio = finding.format == Format::kInt8 ? 3 : 1;
    finding.speed_up.is_measurable = finding.format == Format::kInt8 && is_reliable;
    finding.speed_up.is_reliable = is_reliable;
  }
};

std::vector<MethodFinding> findings(const std::vector<Format>& formats) {
  std::vector<MethodFinding> methods(formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) methods[i].format = formats[i];
  return methods;
}

const std::vector<Format> kAll = {Format::kInt8, Format::kW8, Format::kW4};

TEST(ScheduleTest, EachMethodIsCompleteBeforeTheNextBegins) {
  ScriptedLab lab;
  std::vector<MethodFinding> methods = findings(kAll);
  EXPECT_EQ(try_methods(lab, methods), 0);
  EXPECT_THAT(lab.log, ElementsAre("make int8", "time int8", "make w8", "time w8", "make w4", "time w4"));
  for (const MethodFinding& method : methods) EXPECT_TRUE(method.is_timed());
  EXPECT_LE(lab.now, lab.budget);
}

// Five times slower, as with eight busy loops on two cores.
TEST(ScheduleTest, ABusyMachineFindsTheSameInALongBudget) {
  for (const double slowdown : {1.0, 5.0}) {
    ScriptedLab lab;
    lab.slowdown = slowdown;
    lab.budget = 30;
    std::vector<MethodFinding> methods = findings(kAll);
    try_methods(lab, methods);
    EXPECT_TRUE(methods[0].is_faster(1.1)) << slowdown;
    EXPECT_TRUE(methods[0].is_acceptable) << slowdown;
    EXPECT_LE(lab.now, lab.budget);
  }
}

TEST(ScheduleTest, TheTimingsSoFarAreKeptWhenTheLastDoesNotFit) {
  ScriptedLab lab;
  lab.budget = 6;
  std::vector<MethodFinding> methods = findings(kAll);
  EXPECT_GT(try_methods(lab, methods), 0);
  EXPECT_TRUE(methods[0].is_timed());
  EXPECT_TRUE(methods[1].is_timed());
  EXPECT_TRUE(methods[2].is_out_of_time);
  EXPECT_THAT(methods[2].why_not, HasSubstr("not enough time"));
}

TEST(ScheduleTest, ACheaperMethodFitsWhereOneDoesNot) {
  ScriptedLab lab;
  lab.budget = 3.5;  // 2.5 left: static takes 2.8
  lab.making[Format::kInt8] = 20;
  std::vector<MethodFinding> methods = findings(kAll);
  EXPECT_NEAR(try_methods(lab, methods), 20 + 1.5 + 2 * 0.8, 1e-9);
  EXPECT_TRUE(methods[0].is_out_of_time);
  EXPECT_TRUE(methods[1].is_timed());
  EXPECT_TRUE(methods[2].is_out_of_time);
}

// Estimates are rough before the first method.
TEST(ScheduleTest, AFirstEstimateThatIsTooLongIsNoReasonToGiveUp) {
  ScriptedLab lab;
  lab.budget = 5;
  lab.guess = 2.5;  // static takes 5 + 0.8 s, 4 s are left
  std::vector<MethodFinding> methods = findings({Format::kInt8});
  EXPECT_EQ(try_methods(lab, methods), 0);
  EXPECT_TRUE(methods[0].is_timed());
}

TEST(ScheduleTest, WhatSeemedTooLongIsTriedWhenItTurnsOutToFit) {
  ScriptedLab lab;
  lab.budget = 10;
  lab.guess = 20;
  std::vector<MethodFinding> methods = findings({Format::kInt8, Format::kW8});
  EXPECT_EQ(try_methods(lab, methods), 0);
  EXPECT_THAT(lab.log, ElementsAre("make w8", "time w8", "make int8", "time int8"));
  EXPECT_THAT(methods[0].why_not, IsEmpty());
  EXPECT_FALSE(methods[0].is_out_of_time);
}

TEST(ScheduleTest, WithoutTimeForAnythingTheMissingTimeIsTold) {
  ScriptedLab lab;
  lab.budget = 1.2;
  std::vector<MethodFinding> methods = findings(kAll);
  EXPECT_NEAR(try_methods(lab, methods), 2 + 0.5 + 1.5 + 3 * 0.8, 1e-9);
  EXPECT_THAT(lab.log, IsEmpty());
}

TEST(ScheduleTest, AFasterMethodBecomesCertainBeforeAnotherIsTried) {
  ScriptedLab lab;
  lab.needed = 460;
  lab.comparing = 2;
  lab.budget = 8;
  std::vector<MethodFinding> methods = findings(kAll);
  try_methods(lab, methods);
  ASSERT_GE(lab.log.size(), 3U);
  EXPECT_EQ(lab.log[2], "compare int8");
  EXPECT_TRUE(methods[0].is_acceptable);
}

TEST(ScheduleTest, SamplesThatDoNotExistOrFitAreNotCompared) {
  for (const double comparing : {0.0, 100.0}) {
    ScriptedLab lab;
    lab.needed = 460;
    lab.comparing = comparing;
    std::vector<MethodFinding> methods = findings({Format::kInt8});
    try_methods(lab, methods);
    EXPECT_THAT(lab.log, ElementsAre("make int8", "time int8"));
    EXPECT_TRUE(methods[0].is_uncertain);
  }
}

TEST(ScheduleTest, AnUnreliableTimingDoesNotCount) {
  ScriptedLab lab;
  lab.is_reliable = false;
  std::vector<MethodFinding> methods = findings({Format::kW8});
  EXPECT_EQ(try_methods(lab, methods), 0);  // more time would not help
  EXPECT_FALSE(methods[0].is_timed());
  EXPECT_FALSE(methods[0].is_faster(0));
}

TEST(ScheduleTest, MethodsThatAreSeldomTheAnswerAskForNoBudget) {
  ScriptedLab lab;
  lab.making[Format::kW16] = lab.making[Format::kFp16] = 1000;
  lab.budget = 15;
  std::vector<MethodFinding> methods =
      findings({Format::kInt8, Format::kW8, Format::kW4, Format::kW16, Format::kFp16});
  EXPECT_EQ(try_methods(lab, methods), 0);
  EXPECT_TRUE(methods[3].is_out_of_time);
}

TEST(ScheduleTest, AnObstacleTakesNoTime) {
  ScriptedLab lab;
  std::vector<MethodFinding> methods = findings({Format::kInt8, Format::kW8});
  methods[0].why_not = "needs data";
  EXPECT_EQ(try_methods(lab, methods), 0);
  EXPECT_THAT(lab.log, ElementsAre("make w8", "time w8"));
  EXPECT_EQ(methods[0].why_not, "needs data");
}

}  // namespace
}  // namespace ounce::search
