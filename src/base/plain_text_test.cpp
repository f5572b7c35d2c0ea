#include "base/plain_text.h"

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
            "\\x9b31m");  // one character that begins a sequence
  EXPECT_EQ(escaped("\xe2\x80\xae"
                    "gpj"),
            "\\u202egpj");  // turns the direction of writing
  EXPECT_EQ(escaped("\x9b\xff\xc0\xaf\xed\xa0\x80"), "\\x9b\\xff\\xc0\\xaf\\xed\\xa0\\x80");
}

TEST(PlainText, OrdinaryTextIsAsItWas) {
  const std::string text = "Größe → 5 µs, 層/conv_1:0 \xf0\x9f\x99\x82 'a' \\n";
  EXPECT_EQ(escaped(text), text);
  EXPECT_EQ(plain(text), text);
  EXPECT_EQ(escaped_lines(text + "\nb\n"), text + "\nb\n");
}

TEST(PlainText, LinesOfOursStayLines) { EXPECT_EQ(escaped_lines("a\x1b\nb"), "a\\x1b\nb"); }

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
}

}  // namespace
}  // namespace ounce
