// The C API as a program sees it. That it prints nothing and exports nothing else is shown by tests/consumer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>
#include <ounce/ounce.h>

#include <nlohmann/json.hpp>
#include <array>
#include <fstream>
#include <thread>

#include "support/c_api.h"
#include "support/commands_example.h"

namespace ounce {
namespace {

using nlohmann::json;
using test::CApi;
using test::kExample;
using testing::HasSubstr;
using testing::IsNull;
using testing::NotNull;
using testing::StartsWith;

TEST_F(CApi, TellsItsVersionsAndVerbs) {
  EXPECT_EQ(ounce_abi_version(), std::uint32_t{OUNCE_ABI_VERSION});
  EXPECT_STREQ(ounce_version(), version());
  const json verbs = json::parse(ounce_verbs());
  for (const char* verb : {"inspect", "quantize", "calibrate", "calibrate merge", "verify", "bench",
                           "sensitivity", "tune", "advise", "check", "contract show", "repack"})
    EXPECT_THAT(verbs, testing::Contains(verb));
  EXPECT_THAT(verbs, testing::Not(testing::Contains("contract")));
  for (const std::string verb : verbs) {
    start(verb.c_str());
    ASSERT_THAT(ounce_call_help(call), NotNull());
    EXPECT_EQ(json::parse(ounce_call_help(call))["verb"], verb);
  }
}

TEST_F(CApi, ADocumentIsWhatTheCommandLinePrints) {
  ASSERT_EQ(run("inspect", {{"model", kExample.string()}}), OUNCE_OK) << message();
  EXPECT_EQ(document()["verb"], "inspect");
  EXPECT_EQ(document()["results"][0]["model"], kExample.string());
  EXPECT_THAT(ounce_call_text(call), HasSubstr("audio"));
  EXPECT_THAT(ounce_call_error(call), IsNull());
}

TEST_F(CApi, AnErrorHasACodeAndALine) {
  EXPECT_EQ(run("quantize", {{"model", "nothing.onnx"}}), OUNCE_IO);
  EXPECT_THAT(message(), StartsWith("nothing.onnx: "));
  EXPECT_EQ(ounce_call_error(call)->code, OUNCE_IO);
  EXPECT_EQ(run("quantize", {{"model", "a"}, {"too", "w8"}}), OUNCE_BAD_REQUEST);
  EXPECT_EQ(message(), "quantize has no option 'too'; did you mean 'to'?");
  EXPECT_EQ(run("quantize", {{"model", "a"}, {"to", "w7"}}), OUNCE_BAD_REQUEST);
  EXPECT_THAT(message(), StartsWith("quantize: to: w7 not in"));
  EXPECT_EQ(run("quantize", json::object()), OUNCE_BAD_REQUEST);
  EXPECT_THAT(message(), HasSubstr("model is required"));
  EXPECT_EQ(run("quantise", json::object()), OUNCE_BAD_REQUEST);
  EXPECT_THAT(message(), HasSubstr("did you mean 'quantize'?"));
  EXPECT_THAT(ounce_call_document(call), IsNull());
}

TEST_F(CApi, WhatIsNoOptionsIsRefusedAndStaysRefused) {
  start("inspect");
  EXPECT_EQ(ounce_call_options(call, "{"), OUNCE_BAD_REQUEST);
  EXPECT_THAT(message(), HasSubstr("is not JSON"));
  EXPECT_EQ(ounce_call_run(call), OUNCE_BAD_REQUEST);
  start("inspect");
  EXPECT_EQ(ounce_call_options(call, nullptr), OUNCE_BAD_REQUEST);
  EXPECT_EQ(ounce_call_options(nullptr, "{}"), OUNCE_BAD_REQUEST);
  EXPECT_EQ(ounce_call_run(nullptr), OUNCE_BAD_REQUEST);
  ounce_call_stop(nullptr);
}

TEST_F(CApi, ACallRunsOnce) {
  ASSERT_EQ(run("inspect", {{"model", kExample.string()}}), OUNCE_OK);
  EXPECT_EQ(ounce_call_run(call), OUNCE_BAD_REQUEST);
  EXPECT_EQ(message(), "a call runs once: make another one");
}

TEST_F(CApi, AModelInMemoryGivesAModelInMemory) {
  const std::string bytes = test::read_file(kExample);
  start("quantize");
  ASSERT_EQ(ounce_call_model(call, "model", bytes.data(), bytes.size()), OUNCE_OK);
  ounce_call_options(call, R"({"to": "w8", "verify": false})");
  ASSERT_EQ(ounce_call_run(call), OUNCE_OK) << message();
  std::size_t size = 0;
  const void* output = ounce_call_output(call, &size);
  ASSERT_THAT(output, NotNull());
  EXPECT_EQ(document()["results"][0]["bytes_after"], size);
  EXPECT_LT(size, bytes.size() / 2);
}

TEST_F(CApi, AModelInMemoryCannotHaveASecondFile) {
  const std::string bytes = test::read_file(kExample);
  start("copy");
  ounce_call_model(call, "model", bytes.data(), bytes.size());
  ounce_call_options(call, R"({"external-data": "always"})");
  EXPECT_EQ(ounce_call_run(call), OUNCE_BAD_REQUEST);
  EXPECT_THAT(message(), HasSubstr("the result is more than one file"));
}

TEST_F(CApi, ACallThatIsStoppedLeavesNothing) {
  start("quantize");
  ounce_call_options(
      call, json{{"model", kExample.string()}, {"output", (folder / "out.onnx").string()}}.dump().c_str());
  ounce_call_stop(call);
  EXPECT_EQ(ounce_call_run(call), OUNCE_STOPPED);
  EXPECT_EQ(message(), "stopped; nothing was written");
  EXPECT_FALSE(std::filesystem::exists(folder / "out.onnx"));
}

TEST_F(CApi, CallsRunSideBySide) {
  std::array<int, 4> codes = {-1, -1, -1, -1};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < codes.size(); ++i)
    threads.emplace_back([&, i] {
      ounce_call* own = ounce_call_new("quantize");
      const std::string output = (folder / ("out" + std::to_string(i))).string();
      ounce_call_options(
          own, json{{"model", kExample.string()}, {"output", output}, {"verify", false}}.dump().c_str());
      codes[i] = ounce_call_run(own);
      ounce_call_free(own);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(codes, testing::Each(OUNCE_OK));
  EXPECT_EQ(test::read_file(folder / "out0"), test::read_file(folder / "out3"));
}

}  // namespace
}  // namespace ounce
