#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace ounce::cli {
namespace {

using std::chrono::seconds;

TEST(TimeLeft, IsWhatTheRestTakesAtThisSpeed) {
  TimeLeft left;
  const TimeLeft::Time start{};
  EXPECT_FALSE(left.seconds("reading", 0, 100, start));
  EXPECT_FALSE(left.seconds("reading", 1, 100, start + seconds(5)));   // too little to tell
  EXPECT_FALSE(left.seconds("reading", 50, 100, start + seconds(1)));  // too early
  EXPECT_DOUBLE_EQ(*left.seconds("reading", 25, 100, start + seconds(10)), 30);
  EXPECT_DOUBLE_EQ(*left.seconds("reading", 100, 100, start + seconds(40)), 0);
}

TEST(TimeLeft, BeginsAnewWithAStage) {
  TimeLeft left;
  const TimeLeft::Time start{};
  left.seconds("reading", 0, 100, start);
  EXPECT_FALSE(left.seconds("writing", 90, 100, start + seconds(100)));
  EXPECT_DOUBLE_EQ(*left.seconds("writing", 95, 100, start + seconds(104)), 4);
  EXPECT_FALSE(left.seconds("writing", 0, 100, start + seconds(105)));  // the next model
}

TEST(TimeLeft, IsSaidInFewWords) {
  EXPECT_EQ(time_left_text(0), "1 s");
  EXPECT_EQ(time_left_text(40), "40 s");
  EXPECT_EQ(time_left_text(180), "3 min");
  EXPECT_EQ(time_left_text(4800), "80 min");
  EXPECT_EQ(time_left_text(7200), "2 h 0 min");
}

TEST(ProgressText, ShowsStepTimeAndBest) {
  Progress progress;
  progress.stage = "observing";
  EXPECT_EQ(progress_text(progress, std::nullopt), "observing");
  progress.total = 50;
  progress.done = 17;
  progress.step = 3;
  EXPECT_EQ(progress_text(progress, 12), "step 3: observing 34 %, 12 s left");
  progress.steps = 5;
  progress.best = 34.41;
  progress.best_unit = " dB";
  EXPECT_EQ(progress_text(progress, std::nullopt), "step 3 of 5: observing 34 %, best so far 34.4 dB");
}

}  // namespace
}  // namespace ounce::cli
