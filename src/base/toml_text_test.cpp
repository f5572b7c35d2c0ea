#include "base/toml_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ounce {
namespace {

// "line:column why"
std::string refusal_of(const std::string& text, const TomlLimits& limits = {}) {
  try {
    parse_toml(text, limits);
    return "taken";
  } catch (const TomlError& error) {
    return fmt::format("{}:{} {}", error.line, error.column, error.what());
  }
}

TEST(TomlText, ReadsTables) {
  const toml::table document = parse_toml("[quantize]\nto = \"w8\"\n");
  EXPECT_EQ(document["quantize"]["to"].value_or(std::string()), "w8");
}

TEST(TomlText, TextAndCommentsMayHoldAnything) {
  EXPECT_EQ(refusal_of("\xef\xbb\xbf# \xe2\x9a\xa0\xef\xb8\x8f\na = \"\xef\xb8\x8f\\\" \xef\xb8\x8f\"\n"),
            "taken");
  EXPECT_EQ(refusal_of("a = '\xef\xb8\x8f\\'\nb = \"\"\"\n\xef\xb8\x8f\"\n\"\"\"\n"), "taken");
}

TEST(TomlText, BetweenThemThereIsAsciiOnly) {
  EXPECT_EQ(refusal_of("a = 1\nb \xef\xb6\xbf= 2"),
            "2:3 non-ASCII characters are allowed only in quoted strings");
  EXPECT_EQ(refusal_of("a = \"\"\"\\\n \xef\xb6\xbf\"\"\""),
            "2:2 non-ASCII characters are allowed only in quoted strings");
}

TEST(TomlText, AQuoteInTheMiddleOfAWordBeginsNoString) {
  EXPECT_EQ(refusal_of("a = 1b\":\xef\xb9\xbf"),
            "1:9 non-ASCII characters are allowed only in quoted strings");
}

TEST(TomlText, AQuoteAfterADotBeginsAStringInKeysOnly) {
  EXPECT_EQ(refusal_of("a = 1.\"\xef\xb9\xbf\""),
            "1:8 non-ASCII characters are allowed only in quoted strings");
  EXPECT_EQ(refusal_of("a.\"\xc3\xa4\" = 1"), "taken");
}

TEST(TomlText, WhatStandsInQuotesOrCommentsNestsNothing) {
  std::string list = "a = [";
  for (int i = 0; i < 100; ++i) list += "'layers.0.attention.q[', ";
  EXPECT_EQ(refusal_of(list + "]\n# ....[[[[[", {.depth = 4}), "taken");
  EXPECT_EQ(refusal_of("'a.b.c.d.e.f' = 1", {.depth = 4}), "taken");
}

TEST(TomlText, DepthAndLengthHaveLimits) {
  EXPECT_EQ(refusal_of("a.b.c = 1", {.depth = 2}), "taken");
  EXPECT_EQ(refusal_of("a.b.c.d = 1", {.depth = 2}), "0:0 is nested more than 2 deep");
  EXPECT_EQ(refusal_of("a = [[[1]]]", {.depth = 2}), "0:0 is nested more than 2 deep");
  EXPECT_EQ(refusal_of("a = 123", {.bytes = 6}), "0:0 is longer than 6 bytes");
}

}  // namespace
}  // namespace ounce
