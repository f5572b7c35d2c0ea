// The C API with what only a program has: arrays in memory, a metric and a callback of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/ounce.h>

#include <nlohmann/json.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "support/c_api.h"
#include "support/commands_example.h"

namespace ounce {
namespace {

using nlohmann::json;
using test::CApi;
using test::kClips;
using test::kExample;
using testing::HasSubstr;

struct CApiRun : CApi {
  CApiRun() : clips(64 * 8000) {
    for (std::size_t i = 0; i < clips.size(); ++i)
      clips[i] = static_cast<float>((i * 7919) % 2000) / 2000 - 0.5F;
  }
  // An array of all clips, or one of each.
  void add_clips(const char* name) {
    const std::array<std::int64_t, 2> shape = {64, 8000};
    const ounce_array array = {name, "float32", shape.data(), shape.size(), clips.data()};
    EXPECT_EQ(ounce_call_array(call, &array), OUNCE_OK);
  }
  std::vector<float> clips;
};

TEST_F(CApiRun, DataInMemoryIsDataOfAFile) {
  start("verify");
  ounce_call_options(call, json{{"reference", kExample.string()},
                                {"candidate", kExample.string()},
                                {"samples", 8},
                                {"edge_cases", false}}
                               .dump()
                               .c_str());
  add_clips("audio");
  ASSERT_EQ(ounce_call_run(call), OUNCE_OK) << message();
  EXPECT_EQ(document()["results"][0]["samples"], 8);
  EXPECT_EQ(document()["results"][0]["generated"], false);
}

TEST_F(CApiRun, SamplesMayBeWholeInputs) {
  start("verify");
  ounce_call_options(
      call, json{{"reference", kExample.string()}, {"candidate", kExample.string()}, {"edge_cases", false}}
                .dump()
                .c_str());
  for (std::size_t i = 0; i < 3; ++i) {
    const std::array<std::int64_t, 3> shape = {1, 1, 8000};
    const ounce_array array = {"audio", "float32", shape.data(), shape.size(), clips.data() + i * 8000};
    ASSERT_EQ(ounce_call_sample(call, &array, 1, 1), OUNCE_OK);
  }
  ASSERT_EQ(ounce_call_run(call), OUNCE_OK) << message();
  EXPECT_EQ(document()["results"][0]["samples"], 3);
}

TEST_F(CApiRun, WhatIsNotProvedIsAResult) {
  const std::string made = folder / "made.onnx";
  ASSERT_EQ(run("quantize", {{"model", kExample.string()}, {"output", made}, {"verify", false}}), OUNCE_OK)
      << message();
  const auto code_of = [&](const json& options) {
    const int code = run("prove", options);
    EXPECT_EQ(ounce_call_error(call), nullptr) << message();
    return code;
  };
  EXPECT_EQ(code_of({{"model", made}}), OUNCE_UNPROVED);
  EXPECT_EQ(document()["results"][0]["verdict"], "unproved");
  EXPECT_EQ(code_of({{"model", made}, {"source", kExample.string()}}), OUNCE_OK);
  EXPECT_EQ(code_of({{"model", made}, {"source", made}}), OUNCE_GATE_FAILED);
  EXPECT_EQ(document()["results"][0]["verdict"], "refuted");
}

TEST_F(CApiRun, DataTwiceIsRefused) {
  start("verify");
  ounce_call_options(
      call,
      json{{"reference", kExample.string()}, {"candidate", kExample.string()}, {"data", kClips.string()}}
          .dump()
          .c_str());
  add_clips("audio");
  EXPECT_EQ(ounce_call_run(call), OUNCE_BAD_REQUEST);
  EXPECT_EQ(message(), "data is given twice, in memory and by `data`: leave one out");
}

int score(void* user, const char* outputs, char* answer, size_t size) {
  int& calls = *static_cast<int*>(user);
  ++calls;
  const bool is_there = std::filesystem::exists(std::filesystem::path(outputs) / "candidate.npz");
  std::snprintf(answer, size, "%s", is_there ? R"({"mine": 0.5})" : "nothing there");
  return is_there ? 0 : 1;
}

TEST_F(CApiRun, AMetricOfTheCallersOwnGates) {
  int calls = 0;
  start("verify");
  ounce_call_options(call, json{{"reference", kExample.string()},
                                {"candidate", kExample.string()},
                                {"samples", 4},
                                {"max_drop", "1%"},
                                {"edge_cases", false}}
                               .dump()
                               .c_str());
  add_clips("audio");
  ASSERT_EQ(ounce_call_metric(call, score, &calls), OUNCE_OK);
  ASSERT_EQ(ounce_call_run(call), OUNCE_OK) << message();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(document()["results"][0]["metrics"][0]["name"], "mine");
}

TEST_F(CApiRun, AMetricThatFailsSaysWhy) {
  start("verify");
  ounce_call_options(call, json{{"reference", kExample.string()},
                                {"candidate", kExample.string()},
                                {"samples", 4},
                                {"edge_cases", false}}
                               .dump()
                               .c_str());
  add_clips("audio");
  ounce_call_metric(
      call,
      [](void*, const char*, char* answer, size_t size) {
        std::snprintf(answer, size, "no idea");
        return 1;
      },
      nullptr);
  EXPECT_EQ(ounce_call_run(call), OUNCE_BAD_REQUEST);
  EXPECT_THAT(message(), HasSubstr("the metric function failed: no idea"));
}

TEST_F(CApiRun, ProgressMayStopIt) {
  start("verify");
  ounce_call_options(call,
                     json{{"reference", kExample.string()}, {"candidate", kExample.string()}}.dump().c_str());
  add_clips("audio");
  ounce_call_metric(
      call,
      [](void*, const char*, char* answer, size_t size) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // so that it is asked for in between
        std::snprintf(answer, size, "1");
        return 0;
      },
      nullptr);
  std::string seen;
  ounce_call_on_progress(
      call,
      [](void* user, const char* what, const char*, std::uint64_t, std::uint64_t) {
        *static_cast<std::string*>(user) = what;
        return 1;
      },
      &seen);
  EXPECT_EQ(ounce_call_run(call), OUNCE_STOPPED);
  EXPECT_EQ(seen, kExample.string());
}
}  // namespace
}  // namespace ounce
