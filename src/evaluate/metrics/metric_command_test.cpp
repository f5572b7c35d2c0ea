#include "evaluate/metrics/metric_command.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/cancel.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::test::described;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::HasSubstr;

struct CommandTest : testing::Test {
  // A shell script that gets the folder as $1.
  std::string program(const std::string& lines) {
    std::ofstream(folder / "score.sh") << lines;
    return "sh '" + (folder / "score.sh").string() + "'";
  }
  std::vector<MetricResult> run(const std::string& lines, double seconds = 60,
                                const Tensor* label = nullptr) {
    CommandMeter meter({program(lines), seconds}, {described("y", ElementType::kFloat, {-1, 2})});
    for (int i = 0; i < 3; ++i) {
      const Tensor ours = tensor_of<float>({1, 2}, {1, 2}), theirs = tensor_of<float>({1, 2}, {3, 4});
      const data::TensorView a = ours, b = theirs;
      meter.add({{&a, 1}, {&b, 1}, label, {}, "a"});
    }
    return meter.results();
  }
  ounce::test::TemporaryFolder folder;
};

TEST_F(CommandTest, TheCandidateIsHeldAgainstTheOriginal) {
  // In the first run the files differ. In the second run both are the original's.
  const auto results = run("cmp -s \"$1/original.npz\" \"$1/candidate.npz\" && echo 0.9 || echo 0.7\n");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].name, "score");
  EXPECT_TRUE(results[0].higher_is_better);
  EXPECT_EQ(results[0].reference, 0.9);
  EXPECT_EQ(results[0].candidate, 0.7);
  EXPECT_NEAR(results[0].drop, 0.2, 1e-12);
  EXPECT_FALSE(results[0].has_interval);
}

TEST_F(CommandTest, LabelsAreThereWhenThereAreSome) {
  const char* lines = "test -e \"$1/labels.npz\" && echo 1 || echo 0\n";
  EXPECT_EQ(run(lines)[0].candidate, 0);
  const Tensor label = tensor_of<std::int64_t>({}, {1});
  EXPECT_EQ(run(lines, 60, &label)[0].candidate, 1);
}

TEST_F(CommandTest, AProgramThatFailsIsQuoted) {
  const Error error = error_of([&] { run("echo 'no such file: gold.txt' >&2\nexit 3\n"); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("ended with 3: no such file: gold.txt"));
}

TEST_F(CommandTest, AProgramThatIsNotThereIsNamed) {
  CommandMeter meter({"no-such-program-at-all", 60}, {});
  const Error error = error_of([&] { meter.results(); });
  EXPECT_THAT(error.what(), HasSubstr("`metric_command` 'no-such-program-at-all' ended with 127"));
}

TEST_F(CommandTest, AProgramThatIsNotThereIsFoundBeforeTheWork) {
  std::ofstream(folder / "score.sh") << "echo 1\n";
  const std::string file = (folder / "score.sh").string();
  for (const std::string& program : {std::string("no-such-program-at-all"), std::string("/no/such/program"),
                                     file, folder.path().string()}) {
    const Error error = error_of([&] { require_program({program + " --quiet", 60}); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << program;
    EXPECT_THAT(error.what(), HasSubstr("program '" + program + "' not found"));
  }
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  for (const std::string& command :
       {file, std::string("sh score.sh"), std::string("exit 3"), std::string("$SCORE"),
        std::string("SCALE=2 anything"), std::string("'a program'")})
    require_program({command, 60});
}

TEST_F(CommandTest, AProgramWithoutEndIsEnded) {
  const Error error = error_of([&] { run("sleep 100\n", 0.2); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("took more than 0.2 s: raise `metric_command.seconds`"));
}

TEST_F(CommandTest, AStopEndsIt) {
  Progress progress;
  progress.stop();
  const CancellationScope scope(&progress);
  EXPECT_EQ(error_of([&] { run("sleep 100\n"); }).code(), ErrorCode::kCancelled);
}

TEST(SaidTest, NumbersAndNames) {
  EXPECT_EQ(read_said("0.5\n", "x")[0].value, 0.5);
  EXPECT_EQ(read_said("loading …\n42", "x")[0].value, 42);
  const auto both = read_said(R"({"wer": 0.1, "hits": 3, "lower_is_better": ["wer"]})", "x");
  ASSERT_EQ(both.size(), 2U);
  for (const SaidMetric& metric : both) EXPECT_EQ(metric.higher_is_better, metric.name == "hits");
  EXPECT_FALSE(read_said(R"({"wer": 0.1, "lower_is_better": true})", "x")[0].higher_is_better);
}

TEST(SaidTest, AnythingElseIsRefused) {
  const auto refusal = [](const std::string& text) {
    return std::string(error_of([&] { read_said(text, "x"); }).what());
  };
  EXPECT_THAT(refusal(""), HasSubstr("printed nothing, not a number"));
  EXPECT_THAT(refusal("good\n"), HasSubstr("printed 'good', not a number: it must print 0.93"));
  EXPECT_THAT(refusal("NaN"), HasSubstr("printed 'NaN'"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("printed '[1]'"));
  EXPECT_THAT(refusal("{}"), HasSubstr("printed no metric"));
  EXPECT_THAT(refusal(R"({"a": "b"})"), HasSubstr("printed no number for 'a'"));
  EXPECT_LT(refusal(std::string(1000, 'a')).size(), 300U);
}

TEST(SaidMetrics, WhatIsNestedDeepIsNoNumber) {
  const std::string deep = "{\"a\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  EXPECT_THAT(error_of([&] { read_said(deep, "score"); }).what(), HasSubstr("not a number"));
}

TEST_F(CommandTest, AUnitIsWhatTheProgramSaysAndNeverGuessedFromTheNumber) {
  const auto unit = [](const char* text) { return read_said(text, "x")[0].unit; };
  for (const char* text : {"0.5", "93.5", "-2", R"({"snr": 0.5})", R"({"snr": 12})"})
    EXPECT_EQ(unit(text), MetricUnit::kAbsolute) << text;
  for (const char* text :
       {R"({"wer": 0.1, "lower_is_better": true})", R"({"wer": 31, "lower_is_better": true})"})
    EXPECT_EQ(unit(text), MetricUnit::kRelative) << text;
  EXPECT_EQ(unit(R"({"right": 0.9, "unit": "share"})"), MetricUnit::kShare);
  EXPECT_EQ(unit(R"({"snr": 0.9, "unit": {"snr": "decibel"}})"), MetricUnit::kDecibel);
  EXPECT_EQ(unit(R"({"snr": 0.9, "unit": {"other": "decibel"}})"), MetricUnit::kAbsolute);
  EXPECT_EQ(read_said(R"({"unit": 3})", "x")[0].name, "unit");
  EXPECT_THAT(error_of([&] { unit(R"({"snr": 0.9, "unit": "bels"})"); }).what(),
              HasSubstr("printed the unit \"bels\": it must be share, relative, absolute or decibel"));
}

}  // namespace
}  // namespace ounce::evaluate
