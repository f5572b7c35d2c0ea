#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace ounce::cli {
namespace {

TEST(Paint, WhatDecidesIsInColour) {
  EXPECT_EQ(painted("passed: it did\n"), "\x1b[32mpassed\x1b[0m: it did\n");
  EXPECT_EQ(painted("  FAILED zeros: x\n"), "  \x1b[1;31mFAILED\x1b[0m zeros: x\n");
  EXPECT_EQ(painted("note: by the way"), "\x1b[2mnote: by the way\x1b[0m");
}

TEST(Paint, OtherLinesStayAsTheyAre) {
  for (const char* text : {"", "\n", "model  size\n", "it passed\n\n", "  \n"})
    EXPECT_EQ(painted(text), text);
}

TEST(Paint, AComplaintBeginsInColour) {
  EXPECT_EQ(painted_complaint("ounce: no\n"), "\x1b[1;31mounce:\x1b[0m no\n");
}

}  // namespace
}  // namespace ounce::cli
