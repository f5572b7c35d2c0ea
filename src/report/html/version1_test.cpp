
#include <gtest/gtest.h>

#include <string>

#include "report/html/page.h"

namespace ounce::report::html {
namespace {

using Json = nlohmann::ordered_json;

Json version2_of(const std::string& version1) {
  const Run run = parse_run(version1, "run.json");
  EXPECT_EQ(run.document["schema_version"], 2);
  return run.document;
}

TEST(Version1, QuantizeHasItsNewKeys) {
  const Json document = version2_of(R"({"schema_version": 1, "verb": "quantize", "dry_run": true,
    "command": "ounce quantize m.onnx", "models": [
      {"model": "m.onnx", "exit_code": 0, "seconds": 1.5,
       "trial": {"output_sqnr_db": null, "output_identical": true, "speed_up": 2.5,
                 "speed": {"ratio": 2.5, "low": 2}, "load_memory_after": {"peak": 7, "stays": 5}},
       "activations": [{"low": -1, "high": 2, "histogram": {"low": -3}, "clipped_share": 0.25}]},
      {"model": "bad.onnx", "exit_code": 2, "error": "bad.onnx: is no model"}]})");
  const Json& result = document["results"].at(0);
  EXPECT_EQ(document["results"].size(), 1U);
  EXPECT_EQ(document["command"], "ounce quantize m.onnx");
  EXPECT_EQ(result["dry_run"], true);
  EXPECT_EQ(result["duration_ns"], 1.5e9);
  EXPECT_EQ(result["trial"]["exact"], true);
  EXPECT_TRUE(result["trial"]["sqnr_db"].is_null());
  EXPECT_EQ(result["trial"]["speed_up"]["ratio"], 2.5);
  EXPECT_EQ(result["trial"]["load_memory_after"], (Json{{"peak_bytes", 7}, {"after_bytes", 5}}));
  EXPECT_EQ(result["activations"][0]["range"], (Json{{"low", -1}, {"high", 2}}));
  EXPECT_EQ(result["activations"][0]["histogram"], (Json{{"low", -3}, {"clipped_share", 0.25}}));
  EXPECT_EQ(document["errors"], Json::array({{{"model", "bad.onnx"}, {"message", "bad.onnx: is no model"}}}));
}

TEST(Version1, TimesOfBenchAreNanoseconds) {
  const Json document = version2_of(R"({"schema_version": 1, "verb": "bench", "cpu": "avx2", "models": [
    {"model": "m.onnx", "load_seconds": 0.25, "peak_memory": 9,
     "batches": [{"batch": 1, "calls": 3, "p50": 0.001, "cpu": null, "quantiles": [0.001, 0.002]}]}]})");
  const Json& result = document["results"].at(0);
  EXPECT_EQ(result["cpu"], "avx2");
  EXPECT_EQ(result["models"][0]["load_ns"], 0.25e9);
  EXPECT_EQ(result["models"][0]["peak_memory_bytes"], 9);
  const Json& latency = result["models"][0]["batches"][0]["latency"];
  EXPECT_EQ(latency["p50_ns"], 1e6);
  EXPECT_EQ(latency["quantiles_ns"], (Json{1e6, 2e6}));
}

TEST(Version1, VerifySaysOfEachCandidateWhatItWasComparedWith) {
  const Json document = version2_of(R"({"schema_version": 1, "verb": "verify", "reference": "m.onnx",
    "candidates": [{"candidate": "s.onnx", "passed": true, "outputs": [
      {"name": "y", "kind": "labels", "state": false, "identical": true, "top1_agreement": 1}]}]})");
  const Json& result = document["results"].at(0);
  EXPECT_EQ(result["reference"], "m.onnx");
  const Json& output = result["outputs"][0];
  EXPECT_EQ(output["labels"], true);
  EXPECT_EQ(output["judged"], true);
  EXPECT_EQ(output["exact"], true);
  EXPECT_EQ(output["top1_agreement"], 1);
}

TEST(Version1, SensitivityNamesItsNodesByKey) {
  const Json document = version2_of(R"({"schema_version": 1, "verb": "sensitivity", "min_sqnr": 30,
    "models": [{"model": "m.onnx", "nodes": [{"name": "conv", "format": "w8"}]}]})");
  const Json& result = document["results"].at(0);
  EXPECT_EQ(result["min_sqnr_db"], 30);
  EXPECT_EQ(result["nodes"], (Json{{"conv", "w8"}}));
}

TEST(Version1, DocumentsOfAnyShapeAreRead) {
  for (const std::string& verb : drawn_verbs()) {
    for (const char* strange : {"null", "3", "\"x\"", "true", "[1, null]", "{\"name\": 3}"}) {
      const std::string list = std::string("[") + strange + "]";
      const std::string text = R"({"schema_version": 1, "verb": ")" + verb + R"(", "models": )" + list +
                               R"(, "candidates": [{"outputs": )" + list + R"(, "nodes": )" + list +
                               R"(, "batches": [{"p50": )" + strange + R"(, "quantiles": )" + list + "}]}]}";
      EXPECT_NE(page({parse_run(text, "run.json")}).find("</html>"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace ounce::report::html
