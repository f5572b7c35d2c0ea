#include <ounce/app.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "app/shadow.h"
#include "runtime/ort/library.h"
#include "support/app_models.h"
#include "support/runtime_versions.h"

namespace ounce::app {

// Creates a Shadow with the candidate of a test.
struct ShadowTesting {
  static Shadow make(Session primary, MakeCandidate candidate, const ShadowOptions& options) {
    return Shadow(std::make_shared<Shadow::Impl>(std::move(primary), std::move(candidate), "primary",
                                                 "candidate", options, true));
  }
};

namespace {

using test::small_w8;
using test::small_w8_of;
using test::status_of;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A candidate whose output y [1, 8] is the right one, modified by `answer`.
class ScriptedCandidate : public Candidate {
 public:
  using Answer = std::function<void(std::uint64_t call, std::vector<float>& y)>;
  explicit ScriptedCandidate(Answer answer) : answer_(std::move(answer)) {
    x_.name = "x";
    y_.name = "y";
    x_.element = y_.element = ElementType::kFloat;
    inputs_ = {x_};
    outputs_ = {y_};
  }
  const std::vector<data::ValueDescription>& inputs() const override { return inputs_; }
  const std::vector<data::ValueDescription>& outputs() const override { return outputs_; }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    const auto* x = reinterpret_cast<const float*>(inputs[0].bytes.data());
    std::vector<float> y = small_w8_of({x, x + 4});
    answer_(calls_++, y);
    made_ = {ElementType::kFloat, {1, static_cast<std::int64_t>(y.size())}, {}};
    made_.bytes.assign(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float));
    view_ = made_;
    return {&view_, 1};
  }

 private:
  Answer answer_;
  std::uint64_t calls_ = 0;
  data::ValueDescription x_, y_;
  std::vector<data::ValueDescription> inputs_, outputs_;
  data::Tensor made_;
  data::TensorView view_;
};

MakeCandidate scripted(ScriptedCandidate::Answer answer) {
  return [answer = std::move(answer)] { return std::make_unique<ScriptedCandidate>(answer); };
}

struct AppShadow : testing::Test {
  Session primary() const { return Session::load(test::written(folder, small_w8(), "primary.onnx")); }
  static std::vector<float> row(int i) {
    return {static_cast<float>(i % 7), static_cast<float>(i % 5), 1, -2};
  }
  // Runs `calls` calls and returns how many outputs are wrong.
  static int wrong_answers(Shadow& shadow, int calls, bool flush = false) {
    ShadowCall call = shadow.call();
    int wrong = 0;
    for (int i = 0; i < calls; ++i) {
      const std::vector<float> x = row(i), right = small_w8_of(x);
      std::copy(x.begin(), x.end(), call.inputs().input<float>().begin());
      call.run();
      const auto y = call.output<float>("y");
      wrong += std::equal(y.begin(), y.end(), right.begin(), right.end()) ? 0 : 1;
      if (flush && !shadow.flush()) ++wrong;
    }
    return wrong;
  }

  test::TemporaryFolder folder;
};

TEST_F(AppShadow, WhatIsEqualAgrees) {
  Shadow shadow = ShadowTesting::make(primary(), scripted([](auto, auto&) {}), {});
  EXPECT_EQ(wrong_answers(shadow, 20, true), 0);
  const ShadowStatistics found = shadow.statistics();
  EXPECT_EQ(found.calls, 20U);
  EXPECT_EQ(found.compared, 20U);
  EXPECT_EQ(found.dropped + found.failures(), 0U);
  EXPECT_EQ(found.answers(), 20U);
  EXPECT_EQ(found.agreement(), 1);
  EXPECT_EQ(found.sqnr_db(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(found.primary_latency.count(), 20U);
  EXPECT_EQ(found.candidate_latency.count(), 20U);
}

TEST_F(AppShadow, FlipsAndNoiseAreCounted) {
  const auto every_fourth = [](std::uint64_t call, std::vector<float>& y) {
    if (call % 4 == 0)
      std::swap(*std::max_element(y.begin(), y.end()), *std::min_element(y.begin(), y.end()));
  };
  Shadow shadow = ShadowTesting::make(primary(), scripted(every_fourth), {});
  EXPECT_EQ(wrong_answers(shadow, 40, true), 0);
  const ShadowStatistics found = shadow.statistics();
  EXPECT_EQ(found.flips(), 10U);
  EXPECT_DOUBLE_EQ(found.agreement(), 0.75);
  EXPECT_GT(found.outputs.at("y").largest, 0);
  EXPECT_LT(found.sqnr_db(), 20);
}

TEST_F(AppShadow, AShareOfTheCallsIsCompared) {
  Shadow shadow = ShadowTesting::make(primary(), scripted([](auto, auto&) {}), {.share = 0.25});
  EXPECT_EQ(wrong_answers(shadow, 400, true), 0);
  EXPECT_NEAR(static_cast<double>(shadow.statistics().compared), 100, 3);
}

// The candidate throws, sleeps, or returns NaN or other shapes; the primary's outputs must not change.
TEST_F(AppShadow, AFaultyCandidateChangesNoAnswer) {
  const auto faulty = [](std::uint64_t call, std::vector<float>& y) {
    switch (call % 5) {
      case 0: throw Error(ErrorCode::kBadInput, "does not work");
      case 1: throw std::runtime_error("an unknown error");
      case 2: y[3] = std::numeric_limits<float>::quiet_NaN(); break;
      case 3: std::this_thread::sleep_for(std::chrono::milliseconds(20)); break;
      default: y.pop_back();
    }
  };
  Shadow shadow = ShadowTesting::make(primary(), scripted(faulty), {.queue = 4});
  EXPECT_EQ(wrong_answers(shadow, 100000), 0);
  EXPECT_TRUE(shadow.flush(std::chrono::minutes(1)));
  const ShadowStatistics found = shadow.statistics();
  EXPECT_EQ(found.calls, 100000U);
  EXPECT_EQ(found.compared + found.dropped + found.failures(), 100000U);
  EXPECT_GT(found.dropped, 0U);
  EXPECT_GT(found.errors, 0U);
  EXPECT_GT(found.not_finite, 0U);
}

TEST_F(AppShadow, ACandidateThatDoesNotLoadIsCounted) {
  Shadow shadow = ShadowTesting::make(
      primary(), []() -> std::unique_ptr<Candidate> { throw Error(ErrorCode::kBadInput, "no model"); }, {});
  EXPECT_EQ(wrong_answers(shadow, 10, true), 0);
  const ShadowStatistics found = shadow.statistics();
  EXPECT_GT(found.errors, 2U);
  EXPECT_EQ(found.errors + found.dropped, 10U);
}

TEST_F(AppShadow, ARealCandidateInAProcessOfItsOwn) {
  const auto candidate = test::written(folder, small_w8({}, 2), "candidate.onnx");
  ShadowOptions options;
  options.statistics = folder / "shadow.json";
  {
    Shadow shadow(primary(), candidate, options);
    EXPECT_EQ(wrong_answers(shadow, 8, true), 0);
    EXPECT_EQ(shadow.statistics().compared, 8U);
  }
  {
    Shadow again(primary(), candidate, options);  // continues with the existing file
    EXPECT_EQ(wrong_answers(again, 4, true), 0);
  }
  const ShadowStatistics read = read_shadow(options.statistics);
  EXPECT_EQ(read.calls, 12U);
  EXPECT_EQ(read.compared, 12U);
  EXPECT_EQ(read.candidate.size(), 32U);
  // A file is for one pair of models only.
  EXPECT_EQ(
      status_of([&] { Shadow(primary(), test::written(folder, small_w8({}, 3), "other.onnx"), options); }),
      Status::kUsage);
}

// The runner crashes with a segmentation fault in every run.
TEST_F(AppShadow, ACandidateThatCrashesChangesNoAnswer) {
  const auto candidate = test::written(folder, small_w8({}, 2), "candidate.onnx");
  test::write_file(folder / "runner", "#!/bin/sh\nkill -SEGV $$\n");
  std::filesystem::permissions(folder / "runner", std::filesystem::perms::owner_all);
  ::setenv("OUNCE_RUNNER", (folder / "runner").c_str(), 1);
  {
    Shadow shadow(primary(), candidate, {});
    EXPECT_EQ(wrong_answers(shadow, 1000), 0);
    EXPECT_TRUE(shadow.flush(std::chrono::minutes(1)));
    const ShadowStatistics found = shadow.statistics();
    EXPECT_EQ(found.compared, 0U);
    EXPECT_GT(found.errors + found.crashes, 0U);
  }
  ::unsetenv("OUNCE_RUNNER");
}

TEST_F(AppShadow, LimitsRaiseAnAlarmOnce) {
  std::atomic<int> alarms = 0;
  ShadowOptions options;
  options.limits.min_compared = 10;
  options.on_alarm = [&](const ShadowVerdict& verdict) {
    ++alarms;
    EXPECT_THAT(verdict.reasons.at(0), HasSubstr("predictions changed"));
  };
  Shadow shadow = ShadowTesting::make(
      primary(), scripted([](auto, auto& y) { std::reverse(y.begin(), y.end()); }), options);
  EXPECT_EQ(wrong_answers(shadow, 40, true), 0);
  EXPECT_EQ(alarms, 1);
}

ShadowOptions with_canary() {
  ShadowOptions options;
  options.canary = Canary{.first = 0.1, .last = 1, .growth = 3, .calls_a_step = 20};
  return options;
}

TEST_F(AppShadow, ACanaryGrowsAsLongAsAllIsWell) {
  Shadow shadow = ShadowTesting::make(primary(), scripted([](auto, auto&) {}), with_canary());
  EXPECT_EQ(wrong_answers(shadow, 1000, true), 0);
  const ShadowStatistics found = shadow.statistics();
  EXPECT_EQ(found.canary_share, 1);
  EXPECT_GT(found.canary_calls, 500U);
  EXPECT_THAT(found.canary_stopped, IsEmpty());
}

TEST_F(AppShadow, ACanaryThatFailsIsAnsweredByThePrimary) {
  for (const int kind : {0, 1, 2}) {
    const auto fails_later = [kind](std::uint64_t call, std::vector<float>& y) {
      if (call < 5) return;
      if (kind == 0) throw Error(ErrorCode::kTimeout, "took too long");
      if (kind == 1) y[0] = std::numeric_limits<float>::infinity();
      if (kind == 2) throw std::runtime_error("an unknown error");
    };
    Shadow shadow = ShadowTesting::make(primary(), scripted(fails_later), with_canary());
    EXPECT_EQ(wrong_answers(shadow, 300), 0);
    const ShadowStatistics found = shadow.statistics();
    EXPECT_EQ(found.canary_calls, 5U);
    EXPECT_EQ(found.canary_fallbacks, 1U);
    if (kind == 1) {
      EXPECT_GE(found.not_finite, 1U);
      EXPECT_EQ(found.errors, 0U);
    }
    EXPECT_EQ(found.canary_share, 0);
    EXPECT_THAT(found.canary_stopped, Not(IsEmpty()));
  }
}

TEST_F(AppShadow, AnAlarmStopsTheCanary) {
  ShadowOptions options = with_canary();
  options.limits.min_compared = 30;
  const auto flips = [](auto, std::vector<float>& y) { std::reverse(y.begin(), y.end()); };
  Shadow shadow = ShadowTesting::make(primary(), scripted(flips), options);
  wrong_answers(shadow, 200, true);
  const ShadowStatistics found = shadow.statistics();
  EXPECT_EQ(found.canary_share, 0);
  EXPECT_THAT(found.canary_stopped, HasSubstr("predictions changed"));
}

TEST(ShadowSums, WhatIsWrittenIsReadAndAdded) {
  const test::TemporaryFolder folder;
  ShadowStatistics one;
  one.primary = "a";
  one.candidate = "b";
  one.calls = 10;
  one.compared = 5;
  one.crashes = 1;
  one.outputs["y"] = {40, 100, 1, 0.5, 5, 1};
  one.primary_latency.add(0.010);
  one.candidate_latency.add(0.020);
  write_shadow(one, folder / "one.json");
  ShadowStatistics all = read_shadow(folder / "one.json");
  merge(all, one);
  EXPECT_EQ(all.calls, 20U);
  EXPECT_EQ(all.devices, 2U);
  EXPECT_EQ(all.crashes, 2U);
  EXPECT_EQ(all.outputs.at("y").flips, 2U);
  EXPECT_DOUBLE_EQ(all.sqnr_db(), 20);
  EXPECT_EQ(all.primary_latency.count(), 2U);
  EXPECT_NEAR(all.candidate_latency.quantile(0.5), 0.020, 0.001);
  ShadowStatistics other = one;
  other.candidate = "c";
  EXPECT_EQ(status_of([&] { merge(all, other); }), Status::kUsage);
  test::write_file(folder / "none.json", "{}");
  EXPECT_EQ(status_of([&] { read_shadow(folder / "none.json"); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { read_shadow(folder / "missing.json"); }), Status::kIo);
}

TEST(ShadowSums, EveryLimitHasItsReason) {
  ShadowStatistics sums;
  sums.compared = 1000;
  sums.outputs["y"] = {1000, 100, 1, 0.5, 1000, 5};
  sums.primary_latency.add(0.010);
  sums.candidate_latency.add(0.020);
  EXPECT_TRUE(judge(sums, {}).passed);
  EXPECT_FALSE(judge(sums, {.min_compared = 2000}).is_known);
  EXPECT_FALSE(judge(sums, {.min_agreement = 0.999}).passed);
  EXPECT_FALSE(judge(sums, {.min_sqnr_db = 30}).passed);
  EXPECT_FALSE(judge(sums, {.max_latency_ratio = 1.5}).passed);
  sums.timeouts = 10;
  EXPECT_FALSE(judge(sums, {}).passed);
}

}  // namespace
}  // namespace ounce::app
