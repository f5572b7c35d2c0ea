#include "verbs/next_step.h"

#include <gtest/gtest.h>

#include "base/json_text.h"
#include "verbs/json_options.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace {

std::string next_after(const std::string& verb, const std::string& options, const std::string& result) {
  const std::unique_ptr<VerbCall> call = find_verb(all_verbs(), verb).call(verb);
  read_json(call->options, parse_json<nlohmann::ordered_json>(options, {}, "options"));
  results::Json document = results::Document(verb).json("");
  if (!result.empty())
    document["results"].push_back(parse_json<nlohmann::ordered_json>(result, {}, "result"));
  return next_command(call->options, document);
}

TEST(NextStep, FollowsTheOutcome) {
  const std::string both =
      R"({"reference": "m.onnx", "candidate": "m w8.onnx", "data": ["v.npz"], "labels": "y"})";
  EXPECT_EQ(
      next_after("verify", both, R"({"reference": "m.onnx", "candidate": "m w8.onnx", "passed": true})"),
      "ounce bench m.onnx 'm w8.onnx'");
  EXPECT_EQ(
      next_after("verify", both, R"({"reference": "m.onnx", "candidate": "m w8.onnx", "passed": false})"),
      "ounce sensitivity m.onnx --data v.npz --labels y");
  EXPECT_EQ(next_after("verify", R"({"reference": "m.onnx", "candidate": "c.onnx"})",
                       R"({"reference": "m.onnx", "candidate": "c.onnx", "passed": false})"),
            "ounce sensitivity m.onnx --to w8");
}

TEST(NextStep, RepeatsADryRunForReal) {
  EXPECT_EQ(
      next_after("quantize", R"({"model": ["m.onnx"], "to": "w4", "dry_run": true})", R"({"dry_run": true})"),
      "ounce quantize m.onnx --to w4");
}

TEST(NextStep, KeepsTheDataOfTheRun) {
  EXPECT_EQ(next_after("quantize", R"({"model": ["m.onnx"], "data": ["c.npz"], "rescale": "1/255"})",
                       R"({"model": "m.onnx", "output": "m.w8.onnx", "dry_run": false})"),
            "ounce verify m.onnx m.w8.onnx --data c.npz --rescale 1/255");
}

TEST(NextStep, ExpandsLists) {
  EXPECT_EQ(next_after("sensitivity", R"({"model": ["m.onnx"]})",
                       R"({"model": "m.onnx", "format": "w8", "exclude": ["^a$", "^b$"]})"),
            "ounce quantize m.onnx --to w8 --exclude '^a$' --exclude '^b$'");
  EXPECT_EQ(
      next_after("advise", R"({"model": ["m.onnx"]})", R"({"commands": [{"line": "ounce tune m.onnx"}]})"),
      "ounce tune m.onnx");
}

TEST(NextStep, IsEmptyWithoutAResult) {
  EXPECT_EQ(next_after("quantize", R"({"model": ["m.onnx"]})", ""), "");
}

}  // namespace
}  // namespace ounce::verbs
