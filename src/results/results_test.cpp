#include "results/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ounce::results {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TuneTrial trial_of(const std::string& name) {
  TuneTrial trial;
  trial.name = name;
  trial.is_timed = true;
  trial.speed_up.ratio = 2;
  return trial;
}

TEST(Results, ASpeedUpIsAnObjectEverywhere) {
  TuneResult tuned;
  tuned.best = trial_of("w8");
  QuantizeResult quantized;
  quantized.trial.speed_up = tuned.best.speed_up;
  const Json expected = {{"ratio", 2.0},        {"low", 1.0},      {"high", 1.0},     {"rounds", 0},
                         {"measurable", false}, {"load", nullptr}, {"reliable", true}};
  EXPECT_EQ(to_json(tuned)["best"]["speed_up"], expected);
  EXPECT_EQ(to_json(quantized)["trial"]["speed_up"], expected);
}

TEST(Results, WhatWasNotMeasuredIsNull) {
  TuneResult tuned;
  tuned.best = trial_of("w8");
  tuned.best.is_timed = false;
  const Json json = to_json(tuned);
  EXPECT_TRUE(json["best"]["speed_up"].is_null());
  EXPECT_TRUE(json["best"]["reason"].is_null());
  EXPECT_TRUE(json["samples_needed"].is_null());
  EXPECT_TRUE(json["held_out"].is_null());
}

TEST(Results, ARejectedTrialSaysWhatItLacks) {
  TuneResult tuned;
  tuned.trials = {trial_of("int8")};
  tuned.trials[0].reason = "300 of 307 samples needed at 90 % confidence";
  tuned.trials[0].samples_needed = 307;
  tuned.trials[0].more_samples = 14;
  tuned.trials[0].confidence = 0.9;
  const Json json = to_json(tuned)["trials"][0];
  EXPECT_EQ(json["reason"], "300 of 307 samples needed at 90 % confidence");
  EXPECT_EQ(json["samples_needed"], 307);
  EXPECT_EQ(json["more_samples"], 14);
  EXPECT_EQ(json["confidence"], 0.9);
}

TEST(Results, EqualValuesAreExactAndHaveNoDecibels) {
  VerifyResult verified;
  verified.outputs.resize(2);
  verified.outputs[0].sqnr_db = kInfinity;
  verified.outputs[1].sqnr_db = 30;
  const Json outputs = to_json(verified)["outputs"];
  EXPECT_TRUE(outputs[0]["sqnr_db"].is_null());
  EXPECT_EQ(outputs[0]["exact"], true);
  EXPECT_EQ(outputs[1]["sqnr_db"], 30);
  EXPECT_EQ(outputs[1]["exact"], false);
}

TEST(Results, TimesAreWholeNanoseconds) {
  BenchReport report;
  report.models.resize(1);
  report.models[0].load_seconds = 0.25;
  report.models[0].batches.resize(1);
  report.models[0].batches[0].latency.p50 = 1.5e-6;
  const Json model = to_json(report)["models"][0];
  EXPECT_EQ(model["load_ns"], 250'000'000);
  EXPECT_EQ(model["batches"][0]["latency"]["p50_ns"], 1500);
}

TEST(Results, AnErrorStandsBesideTheResults) {
  report::Row<ModelInfo> good, bad;
  good.result.path = "good.onnx";
  bad.model = "bad.onnx";
  bad.error = {2, "bad.onnx: is no model", ErrorCode::kBadInput, {{"format", "int8"}}, "OUN002"};
  const Json json = Document("inspect").add(std::vector{good, bad}).json("ounce inspect good.onnx bad.onnx");
  EXPECT_EQ(json["schema_version"], 2);
  EXPECT_EQ(json["verb"], "inspect");
  EXPECT_EQ(json["command"], "ounce inspect good.onnx bad.onnx");
  ASSERT_EQ(json["results"].size(), 1U);
  EXPECT_EQ(json["results"][0]["model"], "good.onnx");
  EXPECT_EQ(json["errors"], Json::array({{{"code", "bad_input"},
                                          {"id", "OUN002"},
                                          {"message", "bad.onnx: is no model"},
                                          {"fields", {{{"field", "format"}, {"value", "int8"}}}},
                                          {"model", "bad.onnx"}}}));
}

// Every struct of a result has its definition, and every reference leads to one.
TEST(Results, TheSchemaIsWhole) {
  const Json made = schema();
  const std::string text = made.dump();
  constexpr std::string_view kReference = "\"#/definitions/";
  std::size_t references = 0;
  for (std::size_t at = text.find(kReference); at != text.npos; at = text.find(kReference, at + 1)) {
    const std::size_t begin = at + kReference.size();
    EXPECT_TRUE(made["definitions"].contains(text.substr(begin, text.find('"', begin) - begin)));
    ++references;
  }
  EXPECT_GT(references, 80U);
  for (const char* name : {"QuantizeResult", "VerifyResult", "BenchReport", "TuneResult", "Unpacked"})
    EXPECT_TRUE(made["definitions"].contains(name)) << name;
}

}  // namespace
}  // namespace ounce::results
