#include "verbs/json_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "support/error_of.h"

namespace ounce::verbs {
namespace {

using nlohmann::ordered_json;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<VerbCall> read(const std::string& verb, const ordered_json& options) {
  std::unique_ptr<VerbCall> call = find_verb(all_verbs(), verb).call(verb);
  read_json(call->options, options);
  return call;
}
std::vector<std::string> given(const std::string& verb, const ordered_json& options,
                               const std::string& name) {
  return read(verb, options)->options.find(name)->given;
}
std::string command(const std::string& verb, const ordered_json& options) {
  return command_line(read(verb, options)->options);
}
std::string refusal(const std::string& verb, const ordered_json& options) {
  return error_of([&] { read(verb, options); }).what();
}

TEST(JsonOptions, HaveNamesWithDashesOrUnderscores) {
  EXPECT_EQ(
      command("quantize", {{"model", "-a.onnx"}, {"to", "int8"}, {"min_bytes", 7}, {"exclude", {"a", "b"}}}),
      "ounce quantize -a.onnx --to int8 --min-bytes 7 --exclude a --exclude b");
  EXPECT_EQ(command("contract set", {{"rescale", 0.25}, {"output", "b"}, {"model", "a"}}),
            "ounce contract set a --output b --rescale 0.25");
}

TEST(JsonOptions, AFormatMayHaveAnAlias) {
  for (const char* to : {"static", "int8-static", "int8", "dynamic", "int4", "int2"})
    EXPECT_NO_THROW(read("quantize", {{"model", "a"}, {"to", to}})) << to;
  EXPECT_NO_THROW(read("sensitivity", {{"model", "a"}, {"to", "static"}}));
  EXPECT_THAT(refusal("sensitivity", {{"model", "a"}, {"to", "int4"}}), HasSubstr("int4 not in"));
  EXPECT_THAT(refusal("quantize", {{"model", "a"}, {"to", "nbit4"}}), HasSubstr("did you mean 'nbits4'?"));
}

TEST(JsonOptions, AnOptionMayHaveItsEarlierName) {
  EXPECT_EQ(command("quantize", {{"model", "a"}, {"fp16_budget", 2}, {"no_weigh_costs", true}}),
            "ounce quantize a --fp16-budget 2 --no-use-cost-model");
}

TEST(JsonOptions, ArgumentsComeInTheirOwnOrder) {
  EXPECT_EQ(command("verify", {{"candidate", {"b", "c"}}, {"reference", "a"}}), "ounce verify a b c");
}

TEST(JsonOptions, FlagsAreTrueOrFalseAndNullSaysNothing) {
  const auto call =
      read("quantize", {{"model", "a"}, {"isolate", false}, {"dry-run", true}, {"to", nullptr}});
  EXPECT_THAT(call->options.find("isolate")->given, ElementsAre("false"));
  EXPECT_THAT(call->options.find("dry-run")->given, ElementsAre("true"));
  EXPECT_FALSE(call->options.has("to"));
  EXPECT_THAT(given("quantize", {{"model", "a"}, {"no_isolate", true}}, "isolate"), ElementsAre("false"));
}

TEST(JsonOptions, AListIsJoinedWhereValuesStandBetweenCommas) {
  const ordered_json options = {
      {"model", "a"}, {"mean", {0.49, 0.48, 0.45}}, {"std", 0.25}, {"on", {"avx2", "arm64"}}};
  EXPECT_THAT(given("quantize", options, "mean"), ElementsAre("0.49,0.48,0.45"));
  EXPECT_THAT(given("quantize", options, "std"), ElementsAre("0.25"));
  EXPECT_THAT(given("quantize", options, "on"), ElementsAre("avx2,arm64"));
}

TEST(JsonOptions, OneWordMayHoldSeveralValues) {
  EXPECT_THAT(given("bench", {{"model", "a"}, {"batch", "1,8"}}, "batch"), ElementsAre("1", "8"));
}

TEST(JsonOptions, AnObjectIsPairs) {
  const ordered_json options = {
      {"model", "a"}, {"carry", {{"h", "hn"}, {"c", "cn"}}}, {"set", {{"rate", 8000}}}};
  EXPECT_THAT(given("bench", options, "carry"), ElementsAre("h=hn", "c=cn"));
  EXPECT_THAT(given("bench", options, "set"), ElementsAre("rate=8000"));
}

TEST(JsonOptions, ExpertOptionsArePairs) {
  const auto call =
      read("quantize",
           {{"model", "a"}, {"to", "int8"}, {"expert", {{"rounding", "nearest"}, {"equalize", false}}}});
  EXPECT_THAT(call->options.find("expert")->given, ElementsAre("rounding=nearest", "equalize=false"));
  EXPECT_NO_THROW(call->options.take_words());
  const auto problem = [](const ordered_json& expert) {
    const auto made = read("quantize", {{"model", "a"}, {"expert", expert}});
    try {
      made->options.take_words();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(problem({{"rounding", "up"}}), HasSubstr("up not in {adaptive,nearest,zero-sum}"));
  EXPECT_EQ(problem({{"equalize", "maybe"}}), "`--expert` equalize: must be true or false");
  EXPECT_THAT(problem({{"exclude", "x"}}), ::testing::IsEmpty());  // a field of the recipe by its JSON name
  EXPECT_THAT(problem({{"nothing", "x"}}), HasSubstr("has no field 'nothing'"));
}

TEST(JsonOptions, ExpertOptionsAreAcceptedByTheirOwnNames) {
  EXPECT_THAT(given("quantize", {{"model", "a"}, {"rounding", "nearest"}}, "rounding"),
              ElementsAre("nearest"));
}

TEST(JsonOptions, SizesHaveUnits) {
  const auto problem = [](const char* size) {
    return refusal("quantize", {{"model", "a"}, {"target_size", size}});
  };
  EXPECT_NO_THROW(read("quantize", {{"model", "a"}, {"target_size", "300MB"}}));
  EXPECT_NO_THROW(read("quantize", {{"model", "a"}, {"target_size", 5000}}));
  EXPECT_EQ(problem("3 parsecs"),
            "quantize: target_size: unknown unit 'parsecs'; use kB, MB, GB, KiB or MiB");
  EXPECT_EQ(problem("large"), "quantize: target_size: 'large' is not a size such as 300MB or 2GB");
  EXPECT_EQ(problem("20000000000 GB"), "quantize: target_size: '20000000000 GB' is too large");
}

TEST(JsonOptions, RefuseWhatNoOptionTakes) {
  EXPECT_EQ(refusal("quantise", {}), "'quantise' is not a verb of ounce; did you mean 'quantize'?");
  EXPECT_EQ(refusal("contract show it", {}), "'it' is not a verb of show");
  EXPECT_EQ(refusal("", {}), "no verb is given");
  EXPECT_EQ(refusal("quantize", {{"exlude", "x"}}),
            "quantize has no option 'exlude'; did you mean 'exclude'?");
  EXPECT_EQ(refusal("quantize", {{"config", "x"}}), "quantize has no option 'config'");
  EXPECT_EQ(refusal("quantize", {{"to", true}}), "'to' takes a value, not true or false");
  EXPECT_EQ(refusal("quantize", {{"to", {"w8", "w4"}}}), "'to' takes one value");
  EXPECT_EQ(refusal("quantize", {{"dry_run", "yes"}}), "'dry_run' must be true or false");
  EXPECT_THAT(refusal("quantize", {{"exclude", {{"a", {"b"}}}}}), HasSubstr("takes text or numbers"));
}

TEST(JsonOptions, RefuseBadValuesAndBadCombinations) {
  EXPECT_EQ(refusal("quantize", {{"to", "w8"}}), "quantize: model is required");
  EXPECT_EQ(refusal("quantize", {{"model", "a"}, {"io", "int8"}}), "quantize: io: int8 not in {keep,fp16}");
  EXPECT_EQ(refusal("quantize", {{"model", "a"}, {"threads", -1}}),
            "quantize: threads: -1 is not in the range 0 to 1024");
  EXPECT_EQ(refusal("verify", {{"reference", "a"}, {"candidate", "b"}, {"worst", "all"}}),
            "verify: cannot convert worst = all");
  EXPECT_EQ(refusal("bench", {{"model", "a"}, {"prompt", 4}}), "bench: prompt requires tokens");
  EXPECT_THAT(refusal("bench", {{"model", "a"}, {"tokens", 4}, {"cold_starts", 1}}), HasSubstr(" excludes "));
}

TEST(JsonOptions, EveryOptionIsDescribed) {
  const ordered_json help = describe(find_verb(all_verbs(), "quantize"), "quantize");
  EXPECT_EQ(help["verb"], "quantize");
  EXPECT_EQ(help["result"], "QuantizeResult");
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
  EXPECT_EQ(options["percentile"]["expert"], true);
  EXPECT_FALSE(options["threads"].contains("expert"));
  EXPECT_EQ(options["dry-run"]["kind"], "flag");
  EXPECT_FALSE(options.contains("help"));
}

}  // namespace
}  // namespace ounce::verbs
