// The rules of the verdict on synthetic measurements, and advise() on the example model.
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/search.h>

#include <filesystem>

#include "evaluate/compare/gates.h"
#include "search/advise/methods.h"
#include "support/commands_example.h"
#include "support/error_of.h"

namespace ounce::search {
namespace {

using test::kClips;
using test::kExample;

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

MethodFinding measured(Format format, double speed, double ratio, bool is_acceptable, double sqnr = 40) {
  MethodFinding method;
  method.format = format;
  method.is_measured = true;
  method.ratio = ratio;
  method.bytes = static_cast<std::uint64_t>(ratio * 1e6);
  method.speed_up = {speed, speed, speed, 100, speed != 1};
  method.is_acceptable = is_acceptable;
  method.quality = "as measured";
  method.sqnr_db = sqnr;
  method.integer_nodes = 3;
  return method;
}

MethodFinding untimed(Format format, double ratio) {
  MethodFinding method = measured(format, 1, ratio, true);
  method.speed_up = {};
  return method;
}

MethodFinding uncertain(Format format, double speed, double ratio) {
  MethodFinding method = measured(format, speed, ratio, false);
  method.is_uncertain = true;
  method.samples = 128;
  method.samples_needed = 459;
  method.quality = "as measured; 459 samples needed, 128 given";
  return method;
}

MethodFinding out_of_time(Format format) {
  MethodFinding method;
  method.format = format;
  method.is_out_of_time = true;
  method.why_not = "not enough time: about 9 s needed";
  return method;
}

struct VerdictTest : testing::Test {
  VerdictTest() { SetUpResult(); }
  void SetUpResult() {
    options.data.path = "my data.npz";
    options.data.labels = "y";
    result.model = "net.onnx";
    result.bytes = 3'000'000;
    result.family.weight_bytes = 2'900'000;
    result.family.family = ModelFamily::kCnn;
    result.samples = 1000;
    result.gates.max_drop = .005;
    result.budget = 5;
  }
  AdviceVerdict decided() {
    decide(options, result);
    return result.verdict;
  }
  AdviseOptions options;
  AdviseResult result;
};

TEST_F(VerdictTest, TreesAreLeftAlone) {
  result.family.family = ModelFamily::kTrees;
  result.family.weight_bytes = 0;
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
  EXPECT_THAT(result.headline, StartsWith("do not quantize: a tree"));
  EXPECT_TRUE(result.commands.empty());
}

TEST_F(VerdictTest, WhatIsQuantizedIsLeftAlone) {
  result.family.is_quantized = true;
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
}

TEST_F(VerdictTest, TheFastestThatIsGoodEnoughWins) {
  result.methods = {measured(Format::kW8, 1, .25, true), measured(Format::kInt8, 2, .26, true),
                    measured(Format::kInt8Dynamic, 1.3, .26, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize: int8 is 2.00× as fast and 26 % of the size"));
  EXPECT_EQ(result.commands[0].line, "ounce quantize net.onnx --to int8 --data 'my data.npz' --part 1/2");
  EXPECT_EQ(result.commands[1].line,
            "ounce verify net.onnx net.int8.onnx --data 'my data.npz' --labels y --part 2/2 --max-drop 0.5%");
}

TEST_F(VerdictTest, OfTwoThatAreAboutAsFastTheSmallerWins) {
  result.methods = {measured(Format::kInt8, 2.04, .5, true), measured(Format::kInt8Dynamic, 2, .26, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize: int8-dynamic"));
}

TEST_F(VerdictTest, SpeedThatCostsTooMuchIsTuned) {
  options.data.labels.clear();
  result.gates = {};
  result.gates.min_sqnr = 30;
  result.family.family = ModelFamily::kAudioGenerator;
  result.methods = {measured(Format::kInt8, 1.6, .26, false, 22), measured(Format::kW8, 1, .25, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize in part"));
  EXPECT_EQ(result.commands[0].line, "ounce tune net.onnx --data 'my data.npz' --part 1/2 --min-sqnr 30");
  EXPECT_EQ(result.commands[1].line,
            "ounce verify net.onnx net.tuned.onnx --data 'my data.npz' --part 2/2 --min-sqnr 30");
  EXPECT_EQ(result.commands[2].line, "ounce quantize net.onnx --to w8");
}

TEST_F(VerdictTest, NothingIsTunedThatIsBeyondHope) {
  result.methods = {measured(Format::kInt8, 1.6, .26, false, 3)};
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
}

TEST_F(VerdictTest, ALargerModelWithoutSpeedIsStoredSmall) {
  result.size = SizeClass::kLarge;
  result.methods = {measured(Format::kInt8, 1.02, .26, true), measured(Format::kW16, 1, .5, true),
                    measured(Format::kW8, 1, .25, true), measured(Format::kW4, 1, .15, false)};
  EXPECT_EQ(decided(), AdviceVerdict::kStoreSmall);
  EXPECT_THAT(result.headline, StartsWith("compress the weights only: w8 is 25 % of the size"));
}

TEST_F(VerdictTest, FourBitsNeedMoreThanTwentyDecibelsOnMadeUpInputs) {
  options.data = {};
  result.is_generated = true;
  result.size = SizeClass::kLarge;
  result.methods = {measured(Format::kW8, 1, .25, true), measured(Format::kW4, 1, .15, true, 22)};
  EXPECT_EQ(decided(), AdviceVerdict::kStoreSmall);
  EXPECT_THAT(result.headline, HasSubstr("w8"));
  EXPECT_THAT(result.headline, HasSubstr("random inputs"));
}

TEST_F(VerdictTest, ASmallModelWithoutSpeedIsLeftAlone) {
  result.methods = {measured(Format::kInt8, 1.05, .26, true), measured(Format::kW8, 1, .25, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
  EXPECT_THAT(result.reasons[0], HasSubstr("int8 is 1.05× as fast"));
}

TEST_F(VerdictTest, WithoutDataStaticIsNotKnown) {
  options.data = {};
  result.is_generated = true;
  result.methods = {measured(Format::kW8, 1, .25, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_THAT(result.headline, HasSubstr("needs calibration data"));
}

TEST_F(VerdictTest, WithoutTimeNothingIsClaimed) {
  result.methods = {out_of_time(Format::kInt8), out_of_time(Format::kW8)};
  result.budget_needed = 60;
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_EQ(result.headline,
            "no recommendation yet: 5 s was too short to test any method; run again with `budget=60s`");
  EXPECT_THAT(result.reasons, ElementsAre("INT8 arithmetic: int8 was not tested."));
  EXPECT_TRUE(result.commands.empty());
}

TEST_F(VerdictTest, ALongBudgetIsSaidInMinutes) {
  result.methods = {out_of_time(Format::kInt8)};
  result.budget_needed = 300;
  decided();
  EXPECT_THAT(result.headline, HasSubstr("`budget=5m`"));
}

// Weight compression alone is not worth it for a small model, and the promising method was not tried.
TEST_F(VerdictTest, OneMethodWithoutTimeLeavesTheVerdictOpen) {
  result.methods = {out_of_time(Format::kInt8), measured(Format::kW8, 1, .25, true)};
  result.budget_needed = 20;
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_EQ(result.headline,
            "no recommendation yet: 5 s was too short to test int8; run again with `budget=20s`");
}

TEST_F(VerdictTest, AMethodWithoutTimingIsNotAsFastAsTheOriginal) {
  result.methods = {untimed(Format::kInt8, .26), untimed(Format::kW8, .25)};
  result.budget_needed = 20;
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_EQ(result.headline,
            "no recommendation yet: 5 s was too short to time int8; run again with `budget=20s`");
  for (const std::string& reason : result.reasons) EXPECT_THAT(reason, Not(HasSubstr("as fast as")));
  EXPECT_THAT(result.reasons[0], HasSubstr("int8 is not timed"));
}

TEST_F(VerdictTest, FewerRoundsThanTellAnythingAreNoTiming) {
  result.methods = {measured(Format::kInt8, 3, .26, true)};
  result.methods[0].speed_up.rounds = SpeedUp::kLeastRounds - 1;
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
}

// Whatever ratio was measured on a busy machine.
TEST_F(VerdictTest, AnUnreliableTimingDecidesNothing) {
  for (const double ratio : {0.2, 1.0, 11.7}) {
    result.methods = {measured(Format::kInt8, ratio, .26, true), measured(Format::kW8, 1, .25, true)};
    result.methods[0].speed_up.is_reliable = result.methods[0].speed_up.is_measurable = false;
    EXPECT_EQ(decided(), AdviceVerdict::kUnknown) << ratio;
    EXPECT_THAT(result.headline, HasSubstr("the machine was too busy to time int8")) << ratio;
    EXPECT_THAT(result.headline, Not(HasSubstr("11.7"))) << ratio;
    result = {};
    SetUpResult();
  }
}

TEST_F(VerdictTest, ALargeModelIsStoredSmallThoughNothingWasTimed) {
  result.size = SizeClass::kLarge;
  result.methods = {out_of_time(Format::kInt8), untimed(Format::kW8, .25)};
  result.budget_needed = 120;
  EXPECT_EQ(decided(), AdviceVerdict::kStoreSmall);
  EXPECT_THAT(result.headline, StartsWith("compress the weights only: w8 is 25 % of the size, not timed;"));
}

TEST_F(VerdictTest, StorageThatWasTimedIsPreferred) {
  result.size = SizeClass::kLarge;
  result.methods = {measured(Format::kW8, 1, .25, true), untimed(Format::kW4, .15)};
  result.methods[1].metric = MetricResult{};
  EXPECT_EQ(decided(), AdviceVerdict::kStoreSmall);
  EXPECT_THAT(result.headline, HasSubstr("w8 is 25 % of the size at the same speed"));
}

TEST_F(VerdictTest, TooFewSamplesAreNoRecommendation) {
  result.samples = 256;
  result.methods = {uncertain(Format::kInt8, 3.1, .29), uncertain(Format::kW4, 1, .15)};
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_EQ(result.headline,
            "no recommendation yet: int8 is 3.10× as fast, but its quality is uncertain: as measured; 459 "
            "samples needed, 128 given");
  EXPECT_THAT(result.reasons,
              Contains("90 % confidence needs about 918 samples, half of them for the calibration of int8."));
  EXPECT_EQ(result.commands[0].line, "ounce quantize net.onnx --to int8 --data 'my data.npz' --part 1/2");
}

TEST_F(VerdictTest, ALossThatTheSamplesCanRuleOutIsOffered) {
  result.samples = 256;
  result.methods = {uncertain(Format::kInt8, 3.1, .29)};
  result.methods[0].metric = MetricResult{};
  result.methods[0].metric->drop_bound = .01783;
  decided();
  EXPECT_THAT(result.reasons,
              Contains(HasSubstr("show a loss of at most 1.8 points, which `max_drop=1.8%` allows")));
}

// The data has enough samples, but there was no time to compare them.
TEST_F(VerdictTest, SamplesThatTheTimeDidNotAllowAskForABudget) {
  result.samples = 5000;
  result.methods = {uncertain(Format::kInt8, 3.1, .29)};
  result.budget_needed = 60;
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_THAT(result.reasons, Contains(HasSubstr("run again with `budget=60s`")));
}

TEST_F(VerdictTest, ALargeModelWithUncertainStorageIsNotStoredSmall) {
  result.size = SizeClass::kLarge;
  result.methods = {measured(Format::kInt8, 1, .26, true), uncertain(Format::kW4, 1, .15)};
  EXPECT_EQ(decided(), AdviceVerdict::kUnknown);
  EXPECT_THAT(result.headline, HasSubstr("the quality of w4 is uncertain"));
}

TEST_F(VerdictTest, ACertainMethodWinsOverAFasterUncertainOne) {
  result.methods = {uncertain(Format::kInt8, 3.1, .29), measured(Format::kInt8Dynamic, 1.5, .26, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize: int8-dynamic"));
}

TEST(Methods, ComeInTheOrderOfTheirUseForTheFamily) {
  using enum Format;
  FamilyFinding family;
  family.family = ModelFamily::kCnn;
  EXPECT_THAT(methods_for(ModelKind::kOnnx, {}, family),
              ElementsAre(kInt8, kW8, kInt8Dynamic, kW16, kW4, kFp16));
  family.family = ModelFamily::kTransformer;
  EXPECT_THAT(methods_for(ModelKind::kOnnx, {}, family),
              ElementsAre(kInt8Dynamic, kW8, kInt8, kW4, kW16, kFp16));
  AdviseOptions on_a_gpu;
  on_a_gpu.target = "cuda";
  EXPECT_EQ(methods_for(ModelKind::kOnnx, on_a_gpu, family).front(), kFp16);
}

TEST(Quality, LabelsDecideThenPredictionsThenNoise) {
  AdviseOptions options;
  options.data.path = "data.npz";
  FamilyFinding family;
  EXPECT_EQ(gates_for(options, family, 0).min_sqnr, 20);
  EXPECT_EQ(gates_for(options, family, 500).min_agreement, .99);
  EXPECT_FALSE(gates_for(options, family, 500).min_sqnr);
  family.family = ModelFamily::kAudioGenerator;
  EXPECT_EQ(gates_for(options, family, 500).min_sqnr, 30);
  family.family = ModelFamily::kCnn;
  options.data.labels = "y";
  EXPECT_EQ(gates_for(options, family, 500).max_drop, .005);
  EXPECT_FALSE(gates_for(options, family, 500).min_agreement);
}

// Showing 99 % agreement at 90 % confidence takes 230 equal predictions; the SQNR needs fewer.
TEST(Quality, FewPredictionsAreNotAskedForAgreement) {
  AdviseOptions options;
  options.data.path = "data.npz";
  EXPECT_EQ(gates_for(options, {}, 230).min_agreement, .99);
  const Gates few = gates_for(options, {}, 229);
  EXPECT_FALSE(few.min_agreement);
  EXPECT_EQ(few.min_sqnr, 30);
  EXPECT_EQ(least_samples(gates_for(options, {}, 230), .9), 230U);
  options.data.labels = "y";
  EXPECT_EQ(least_samples(gates_for(options, {}, 230), .9), 460U);
}

VerifyResult compared(double lost, double won, double of) {
  VerifyResult result;
  result.samples = result.independent_samples = static_cast<std::uint64_t>(of);
  result.outputs.emplace_back().sqnr_db = 13;
  MetricResult metric;
  metric.name = "top1_accuracy";
  metric.reference = .8;
  metric.drop = (lost - won) / of;
  metric.candidate = .8 - metric.drop;
  metric.lost = Tally{lost, of};
  metric.won = Tally{won, of};
  result.metrics = {metric};
  return result;
}

MethodFinding judged(const VerifyResult& compared) {
  Gates gates;
  gates.max_drop = .005;
  VerifyResult result = compared;
  evaluate::judge(gates, result);
  MethodFinding finding;
  judge(gates, result, finding);
  return finding;
}

// 4 bits at 13 dB that are one point better on 100 samples by chance.
TEST(Quality, BetterByChanceIsNotGoodEnough) {
  const MethodFinding finding = judged(compared(6, 7, 100));
  EXPECT_FALSE(finding.is_acceptable);
  EXPECT_TRUE(finding.is_uncertain);
  EXPECT_GT(finding.samples_needed, 100U);
  EXPECT_THAT(finding.quality, StartsWith("top1_accuracy better by 1.00 points"));
  EXPECT_THAT(finding.quality, HasSubstr(" samples needed, 100 given"));
}

TEST(Quality, EqualPredictionsAreCertainWithEnoughSamples) {
  EXPECT_TRUE(judged(compared(0, 0, 460)).is_acceptable);
  const MethodFinding few = judged(compared(0, 0, 128));
  EXPECT_FALSE(few.is_acceptable);
  EXPECT_TRUE(few.is_uncertain);
  EXPECT_EQ(few.samples_needed, 460U);
  EXPECT_EQ(few.quality, "top1_accuracy unchanged at 0.8000; 460 samples needed, 128 given");
}

TEST(Quality, ALossOnTheSamplesIsALoss) {
  const MethodFinding finding = judged(compared(16, 0, 1000));
  EXPECT_FALSE(finding.is_acceptable);
  EXPECT_FALSE(finding.is_uncertain);
  EXPECT_EQ(finding.quality, "top1_accuracy worse by 1.60 points to 0.7840, 0.50 allowed");
}

TEST(Quality, RandomInputsAreNoSample) {
  VerifyResult random = compared(0, 0, 4);
  random.is_generated = true;
  EXPECT_TRUE(judged(random).is_acceptable);
}

AdviseOptions example_options() {
  AdviseOptions options;
  options.budget = 20;
  options.data.path = kClips;
  options.data.labels = "label";
  InputContract& audio = options.data.contract.emplace().inputs["audio"];
  audio.kind = InputKind::kAudio;
  audio.rescale_factor = 1.0 / 32768;
  audio.length = 8000;
  return options;
}

TEST(Advise, MeasuresTheExampleOnHalvesOfItsData) {
  const AdviseResult advice = advise(kExample, example_options());
  EXPECT_EQ(advice.family.family, ModelFamily::kCnn);
  EXPECT_EQ(advice.size, SizeClass::kSmall);
  EXPECT_EQ(advice.samples, 256U);
  EXPECT_LE(advice.calibration_samples, 128U);
  EXPECT_LE(advice.quality_samples, 256U);
  if (advice.quality_samples != 0) {  // a busy machine may not have had the time
    ASSERT_FALSE(advice.baseline.metrics.empty());
    EXPECT_EQ(advice.baseline.metrics[0].name, "top1_accuracy");
  }
  ASSERT_EQ(advice.methods.size(), 6U);
  for (const MethodFinding& method : advice.methods) {
    EXPECT_NE(method.is_measured, !method.why_not.empty());
    EXPECT_LE(method.samples, method.format == Format::kInt8 ? 128U : 256U);
    // 256 samples cannot show a drop of half a point.
    EXPECT_FALSE(method.is_acceptable);
  }
  EXPECT_NE(advice.verdict, AdviceVerdict::kLeave);
}

TEST(Advise, RefusesWhatMakesNoSense) {
  AdviseOptions options;
  options.budget = 0;
  EXPECT_THAT(test::error_of([&] { advise(kExample, options); }).what(), HasSubstr("`budget`"));
  options.budget = 5;
  options.target = "toaster";
  EXPECT_THAT(test::error_of([&] { advise(kExample, options); }).what(), HasSubstr("toaster"));
}

}  // namespace
}  // namespace ounce::search
