#include "cli/terminal.h"

#include <gmock/gmock.h>

namespace ounce::cli {
namespace {

const char* const kTable =
    "model                     size  verdict\n"
    "---------------------  -------  -----------------------\n"
    "a_very_long_name.onnx  1.23 MB  passed: everything held\n"
    "b.onnx                  45 kB  failed\n"
    "2 models\n";

std::size_t widest(const std::string& text) {
  std::size_t most = 0, length = 0;
  for (const char c : text) {
    if (c == '\n')
      length = 0;
    else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U)
      most = std::max(most, ++length);
  }
  return most;
}

TEST(FitWidth, WhatFitsStaysAsItIs) { EXPECT_EQ(fit_width(kTable, 80), kTable); }

TEST(FitWidth, WordsAreCutAndFiguresAreNot) {
  const std::string narrow = fit_width(kTable, 40);
  EXPECT_LE(widest(narrow), 40U);
  EXPECT_THAT(narrow, testing::HasSubstr("…"));
  EXPECT_THAT(narrow, testing::HasSubstr("1.23 MB"));
  EXPECT_THAT(narrow, testing::HasSubstr("\n2 models\n"));
}

TEST(FitWidth, At80ColumnsTheNameOfTheModelIsWholeAndTheLeastImportantColumnsAreLeftOut) {
  const std::string table =
      "model             before    after    size  stored  weights SQNR  output SQNR  time  written\n"
      "--------------  --------  -------  ------  ------  ------------  -----------  ----  ----------------\n"
      "mobilenet.onnx   8.92 MB  2.34 MB  26.2 %  71/176       41.0 dB      34.4 dB   3 s  "
      "mobilenet.w8.onn\n";
  const std::string narrow = fit_width(table, 80);
  EXPECT_LE(widest(narrow), 80U);
  EXPECT_THAT(narrow, testing::HasSubstr("mobilenet.onnx"));
  EXPECT_THAT(narrow, testing::HasSubstr("mobilenet.w8.onn"));
  EXPECT_THAT(narrow, testing::HasSubstr("34.4 dB"));
  EXPECT_THAT(narrow, testing::Not(testing::HasSubstr("weights SQNR")));
  EXPECT_THAT(narrow, testing::Not(testing::HasSubstr("…")));
  EXPECT_EQ(fit_width(table, 120), table);
}

// The tables of bench.
TEST(FitWidth, At80ColumnsTimesKeepTheirDigitsAndModelsTheirNames) {
  const std::string starts =
      "model                               size     load  first run  cold start  peak memory  load peak  "
      "after load\n"
      "-------------------------------  -------  -------  ---------  ----------  -----------  ---------  "
      "----------\n"
      "mobilenetv2_full_name_here.onnx  8.92 MB  23.1 ms    5.43 ms     78.9 ms      59.8 MB    51.6 MB     "
      "51.6 MB\n"
      "x1.onnx                          2.34 MB  36.2 ms    1.31 ms     85.0 ms      64.4 MB    56.2 MB     "
      "56.2 MB\n";
  const std::string runs =
      "model                            batch      p50      p90      p99      min     mean  samples/s  speed "
      "(95 % sure)\n"
      "-------------------------------  -----  -------  -------  -------  -------  -------  ---------  "
      "--------------------\n"
      "mobilenetv2_full_name_here.onnx      1  2.00 ms  2.13 ms  2.41 ms  1.94 ms  2.13 ms        469  1\n"
      "x1.onnx                              1  0.87 ms  0.91 ms  1.20 ms  0.85 ms  0.90 ms       1111  2.30 "
      "× (2.11 … 2.41)\n";
  for (const std::string& table : {starts, runs}) {
    const std::string narrow = fit_width(table, 80);
    EXPECT_LE(widest(narrow), 80U);
    EXPECT_THAT(narrow, testing::HasSubstr("mobilenetv2_full_name_here.onnx"));
  }
  EXPECT_THAT(fit_width(starts, 80), testing::HasSubstr("cold start"));
  EXPECT_THAT(fit_width(runs, 80), testing::HasSubstr("2.30 × (2.11 … 2.41)"));
  EXPECT_THAT(fit_width(runs, 80), testing::HasSubstr("p50"));
}

TEST(FitWidth, FiguresInTheLastColumnAreNotCut) {
  const std::string table =
      "name        the growth\n----------  ----------\na_long_one     51.6 MB\nb              56.2 MB\n";
  EXPECT_THAT(fit_width(table, 19), testing::HasSubstr("51.6 MB"));
}

TEST(FitWidth, TheFirstColumnIsCutLast) {
  const std::string narrow = fit_width(kTable, 45);
  EXPECT_THAT(narrow, testing::HasSubstr("a_very_long_name.onnx"));
  EXPECT_THAT(narrow, testing::HasSubstr("passed: e"));
  EXPECT_LE(widest(narrow), 45U);
}

TEST(FitWidth, ATerminalOfNoWidthIsSurvived) {
  for (const std::size_t width : {0U, 1U, 5U})
    EXPECT_THAT(fit_width(kTable, width), testing::HasSubstr("45 kB"));
}

TEST(FitWidth, LettersOfSeveralBytesAreNotTornApart) {
  const std::string table = "name        n\n----------  -\nüüüüüüüüüü  1\n";
  EXPECT_EQ(fit_width(table, 11), "name      n\n--------  -\nüüüü…üüü  1\n");
}

TEST(FitWidth, TextThatIsNoTableIsLeftAlone) {
  const std::string text = "one line that is rather long -- with dashes - in it\n--\n- a\n";
  EXPECT_EQ(fit_width(text, 10), text);
  EXPECT_EQ(fit_width("", 10), "");
  EXPECT_EQ(fit_width("no end", 10), "no end");
}

TEST(WrapHelp, DescriptionsGoOnBelowThemselves) {
  const std::string line =
      "  --option TEXT               " + std::string("some words that go on and on and on for long");
  EXPECT_EQ(wrap_help(line + "\n", 60), "  --option TEXT               some words that go on and on\n" +
                                            std::string(30, ' ') + "and on for long\n");
  EXPECT_EQ(wrap_help("Usage: ounce verify with a long line that is no description of anything\n", 60),
            "Usage: ounce verify with a long line that is no description of anything\n");
}

}  // namespace
}  // namespace ounce::cli
