#include "base/text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ounce {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(PlainText, WhatATerminalWouldObeyIsWritten) {
  EXPECT_EQ(escaped("a\x1b[2Jb\r\n\tc\x7f"), "a\\x1b[2Jb\\r\\n\\tc\\x7f");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\x9b31m");  // one character that starts an escape sequence
  EXPECT_EQ(escaped("\xe2\x80\xae"
                    "gpj"),
            "\\u202egpj");  // changes the text direction
  EXPECT_EQ(escaped("\x9b\xff\xc0\xaf\xed\xa0\x80"), "\\x9b\\xff\\xc0\\xaf\\xed\\xa0\\x80");
}

TEST(PlainText, OrdinaryTextIsAsItWas) {
  const std::string text = "Größe → 5 µs, 層/conv_1:0 \xf0\x9f\x99\x82 'a' \\n";
  EXPECT_EQ(escaped(text), text);
  EXPECT_EQ(plain(text), text);
  EXPECT_EQ(escaped_lines(text + "\nb\n"), text + "\nb\n");
}

TEST(PlainText, LinesOfOursStayLines) { EXPECT_EQ(escaped_lines("a\x1b\nb"), "a\\x1b\nb"); }

TEST(PlainText, NothingIsACommandForTheLogOfABuildService) {
  EXPECT_EQ(escaped_lines("::error file=x::y\n  ::stop-commands::t\n"),
            "\\x3a:error file=x::y\n  \\x3a:stop-commands::t\n");
  EXPECT_EQ(escaped_lines("\xe3\x80\x80::error::y"), "\xe3\x80\x80\\x3a:error::y");
  EXPECT_EQ(escaped_lines(":::error::y"), "\\x3a::error::y");
  EXPECT_EQ(escaped_lines("conv ##[add-matcher]x ##vso[task.x]y"),
            "conv \\x23#[add-matcher]x \\x23#vso[task.x]y");
  EXPECT_EQ(escaped_lines("###[group]"), "#\\x23#[group]");
  const std::string ordinary = "std::vector\n/a/b::c\n# a ## b [c] ##\n: :a";
  EXPECT_EQ(escaped_lines(ordinary), ordinary);
}

TEST(PlainText, LongNamesAreCutAndTheirLengthTold) {
  const std::string name(20'000, 'n');
  EXPECT_EQ(plain("tensor " + name + " is odd"),
            "tensor " + name.substr(0, 100) + "… (20,000 characters) is odd");
  EXPECT_EQ(plain(std::string(200, 'n')), std::string(200, 'n'));
  std::string umlauts;
  for (int i = 0; i < 300; ++i) umlauts += "ä";
  EXPECT_THAT(plain(umlauts), AllOf(EndsWith("ä… (300 characters)"), Not(HasSubstr("\\x"))));
}

TEST(PlainText, LongTextsAreCutToo) {
  std::string words;
  for (int i = 0; i < 1'000'000; ++i) words += "word ";
  const std::string shown = plain(words);
  EXPECT_LT(shown.size(), 5000U);
  EXPECT_THAT(shown, AllOf(StartsWith("word word"), EndsWith("… (5,000,000 characters)")));
}

TEST(PlainText, JsonStaysTheSameDocument) {
  const nlohmann::json document = {{"name", "a\x7f\xc2\x9b\xe2\x80\xae\x1b\nö"}};
  for (const int indent : {-1, 2}) {
    const std::string shown = escaped_json(document.dump(indent));
    EXPECT_THAT(shown, AllOf(HasSubstr("\\u007f"), HasSubstr("\\u009b"), HasSubstr("\\u202e")));
    EXPECT_EQ(nlohmann::json::parse(shown), document);
  }
  const nlohmann::json commands = {{"::name", "::error::x ##[debug]y"}, {"list", {"##[group]", "::x"}}};
  for (const int indent : {-1, 2}) {
    const std::string shown = escaped_json(commands.dump(indent));
    EXPECT_THAT(shown, Not(HasSubstr("##[")));
    EXPECT_EQ(nlohmann::json::parse(shown), commands);
  }
}

}  // namespace
}  // namespace ounce
