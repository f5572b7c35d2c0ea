#include "verbs/json_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "verbs/command.h"
#include "verbs/option_kinds.h"

namespace ounce::verbs {
namespace {

using nlohmann::ordered_json;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

struct JsonOptions : testing::Test {
  std::vector<std::string> words(const std::string& verb, const ordered_json& options) {
    return arguments_of(parser, verb, options);
  }
  std::string refusal(const std::string& verb, const ordered_json& options) {
    return error_of([&] { words(verb, options); }).what();
  }
  CLI::App parser{"", "ounce"};
  std::vector<Command> commands = add_verbs(parser);
};

TEST_F(JsonOptions, BecomeWordsOfACommandLine) {
  EXPECT_THAT(
      words("quantize", {{"model", "-a.onnx"}, {"to", "static"}, {"min_bytes", 7}, {"exclude", {"a", "b"}}}),
      ElementsAre("quantize", "--to=static", "--min-bytes=7", "--exclude=a", "--exclude=b", "--", "-a.onnx"));
  EXPECT_THAT(words("contract set", {{"rescale", 0.25}, {"output", "b"}, {"model", "a"}}),
              ElementsAre("contract", "set", "--rescale=0.25", "--output=b", "--", "a"));
}

TEST_F(JsonOptions, ArgumentsComeInTheirOwnOrder) {
  EXPECT_THAT(words("verify", {{"candidate", {"b", "c"}}, {"reference", "a"}}),
              ElementsAre("verify", "--", "a", "b", "c"));
}

TEST_F(JsonOptions, FlagsAreTrueOrFalseAndNullSaysNothing) {
  EXPECT_THAT(words("quantize", {{"isolate", false}, {"dry-run", true}, {"to", nullptr}}),
              ElementsAre("quantize", "--isolate=false", "--dry-run=true", "--"));
}

TEST_F(JsonOptions, AListIsJoinedWhereValuesStandBetweenCommas) {
  EXPECT_THAT(words("quantize", {{"mean", {0.49, 0.48, 0.45}}, {"std", 0.25}, {"on", {"avx2", "arm64"}}}),
              ElementsAre("quantize", "--mean=0.49,0.48,0.45", "--std=0.25", "--on=avx2,arm64", "--"));
}

TEST_F(JsonOptions, AnObjectIsPairs) {
  EXPECT_THAT(words("bench", {{"carry", {{"h", "hn"}, {"c", "cn"}}}, {"set", {{"rate", 8000}}}}),
              ElementsAre("bench", "--carry=h=hn", "--carry=c=cn", "--set=rate=8000", "--"));
}

TEST_F(JsonOptions, RefuseWhatNoOptionTakes) {
  EXPECT_EQ(refusal("quantise", {}), "'quantise' is not a verb of ounce; did you mean 'quantize'?");
  EXPECT_EQ(refusal("contract show it", {}), "'it' is not a verb of show");
  EXPECT_EQ(refusal("", {}), "say what to do: the verb is empty");
  EXPECT_EQ(refusal("quantize", {{"exlude", "x"}}),
            "quantize has no option 'exlude'; did you mean 'exclude'?");
  EXPECT_EQ(refusal("quantize", {{"config", "x"}}), "quantize has no option 'config'");
  EXPECT_EQ(refusal("quantize", {{"to", true}}), "'to' takes a value, not true or false");
  EXPECT_EQ(refusal("quantize", {{"to", {"w8", "w4"}}}), "'to' takes one value");
  EXPECT_EQ(refusal("quantize", {{"dry_run", "yes"}}), "'dry_run' is either true or false");
  EXPECT_THAT(refusal("quantize", {{"exclude", {{"a", {"b"}}}}}), HasSubstr("takes text or numbers"));
}

TEST_F(JsonOptions, EveryOptionIsDescribed) {
  const ordered_json help = describe(find_verb(parser, "quantize"), "quantize");
  EXPECT_EQ(help["verb"], "quantize");
  std::map<std::string, ordered_json> options;
  for (const ordered_json& option : help["options"]) {
    EXPECT_FALSE(option["help"].get<std::string>().empty()) << option;
    options[option["name"]] = option;
  }
  EXPECT_EQ(options["model"]["argument"], true);
  EXPECT_EQ(options["model"]["list"], true);
  EXPECT_EQ(options["model"]["required"], true);
  EXPECT_EQ(options["to"]["kind"], "text");
  EXPECT_EQ(options["to"]["default"], "w8");
  EXPECT_THAT(options["external-data"]["choices"], ElementsAre("auto", "always", "never"));
  EXPECT_EQ(options["threads"]["kind"], "integer");
  EXPECT_EQ(options["percentile"]["kind"], "number");
  EXPECT_EQ(options["dry-run"]["kind"], "flag");
  EXPECT_FALSE(options.contains("help"));
}

}  // namespace
}  // namespace ounce::verbs
