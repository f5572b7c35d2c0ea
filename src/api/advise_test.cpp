// The rules of the verdict on made-up measurements, and the whole of it on the example.
#include <gmock/gmock.h>
#include <ounce/advise.h>
#include <ounce/error.h>

#include <filesystem>

#include "search/advise_methods.h"
#include "search/advise_quality.h"
#include "search/advise_verdict.h"
#include "support/commands_example.h"
#include "support/error_of.h"

namespace ounce::search {
namespace {

using test::kClips;
using test::kExample;

using testing::ElementsAre;
using testing::HasSubstr;
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

struct VerdictTest : testing::Test {
  VerdictTest() {
    options.data.path = "my data.npz";
    options.data.labels = "y";
    result.model = "net.onnx";
    result.bytes = 3'000'000;
    result.family.weight_bytes = 2'900'000;
    result.family.family = ModelFamily::kCnn;
    result.samples = 1000;
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
  result.methods = {measured(Format::kW8, 1, .25, true), measured(Format::kStatic, 2, .26, true),
                    measured(Format::kDynamic, 1.3, .26, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize: static is 2.00 × as fast and 26 % of the size"));
  EXPECT_EQ(result.commands[0].line, "ounce quantize net.onnx --to static --data 'my data.npz' --part 1/2");
  EXPECT_EQ(
      result.commands[1].line,
      "ounce verify net.onnx net.static.onnx --data 'my data.npz' --labels y --part 2/2 --max-drop 0.5%");
}

TEST_F(VerdictTest, OfTwoThatAreAboutAsFastTheSmallerWins) {
  result.methods = {measured(Format::kStatic, 2.04, .5, true), measured(Format::kDynamic, 2, .26, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize: dynamic"));
}

TEST_F(VerdictTest, SpeedThatCostsTooMuchIsTuned) {
  options.data.labels.clear();
  result.family.family = ModelFamily::kAudioGenerator;
  result.methods = {measured(Format::kStatic, 1.6, .26, false, 22), measured(Format::kW8, 1, .25, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kQuantize);
  EXPECT_THAT(result.headline, StartsWith("quantize in part"));
  EXPECT_EQ(result.commands[0].line, "ounce tune net.onnx --data 'my data.npz' --part 1/2 --min-sqnr 30");
  EXPECT_EQ(result.commands[1].line,
            "ounce verify net.onnx net.tuned.onnx --data 'my data.npz' --part 2/2 --min-sqnr 30");
  EXPECT_EQ(result.commands[2].line, "ounce quantize net.onnx --to w8");
}

TEST_F(VerdictTest, NothingIsTunedThatIsBeyondHope) {
  result.methods = {measured(Format::kStatic, 1.6, .26, false, 3)};
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
}

TEST_F(VerdictTest, ALargerModelWithoutSpeedIsStoredSmall) {
  result.size = SizeClass::kLarge;
  result.methods = {measured(Format::kStatic, 1.02, .26, true), measured(Format::kW16, 1, .5, true),
                    measured(Format::kW8, 1, .25, true), measured(Format::kW4, 1, .15, false)};
  EXPECT_EQ(decided(), AdviceVerdict::kStoreSmall);
  EXPECT_THAT(result.headline, StartsWith("store small only: w8 is 25 % of the size"));
}

TEST_F(VerdictTest, FourBitsNeedMoreThanTwentyDecibelsOnMadeUpInputs) {
  options.data = {};
  result.is_generated = true;
  result.size = SizeClass::kLarge;
  result.methods = {measured(Format::kW8, 1, .25, true), measured(Format::kW4, 1, .15, true, 22)};
  EXPECT_EQ(decided(), AdviceVerdict::kStoreSmall);
  EXPECT_THAT(result.headline, HasSubstr("w8"));
  EXPECT_THAT(result.headline, HasSubstr("made-up inputs"));
}

TEST_F(VerdictTest, ASmallModelWithoutSpeedIsLeftAlone) {
  result.methods = {measured(Format::kStatic, 1.05, .26, true), measured(Format::kW8, 1, .25, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
  EXPECT_THAT(result.reasons[0], HasSubstr("static is 1.05 × as fast"));
}

TEST_F(VerdictTest, WithoutDataStaticIsNoVerdictButAQuestion) {
  options.data = {};
  result.is_generated = true;
  result.methods = {measured(Format::kW8, 1, .25, true)};
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
  EXPECT_THAT(result.headline, HasSubstr("needs data"));
}

TEST_F(VerdictTest, WithoutTimeNothingIsClaimed) {
  result.methods.resize(1);
  result.methods[0].format = Format::kStatic;
  result.methods[0].is_out_of_time = true;
  result.budget = 1;
  EXPECT_EQ(decided(), AdviceVerdict::kLeave);
  EXPECT_THAT(result.headline, HasSubstr("1 s were too few"));
  EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("give a longer `budget`")));
}

TEST(Methods, ComeInTheOrderOfTheirUseForTheFamily) {
  using enum Format;
  FamilyFinding family;
  family.family = ModelFamily::kCnn;
  EXPECT_THAT(methods_for({}, family), ElementsAre(kStatic, kW8, kDynamic, kW16, kW4, kFp16));
  family.family = ModelFamily::kTransformer;
  EXPECT_THAT(methods_for({}, family), ElementsAre(kDynamic, kW8, kStatic, kW4, kW16, kFp16));
  AdviseOptions on_a_gpu;
  on_a_gpu.target = "cuda";
  EXPECT_EQ(methods_for(on_a_gpu, family).front(), kFp16);
}

TEST(Quality, LabelsDecideThenAnswersThenNoise) {
  AdviseOptions options;
  options.data.path = "data.npz";
  FamilyFinding family;
  EXPECT_EQ(gates_for(options, family).min_sqnr, 20);
  EXPECT_TRUE(judges_by_answers(options, family, .995));
  family.family = ModelFamily::kAudioGenerator;
  EXPECT_EQ(gates_for(options, family).min_sqnr, 30);
  EXPECT_FALSE(judges_by_answers(options, family, .995));
  family.family = ModelFamily::kCnn;
  options.data.labels = "y";
  EXPECT_EQ(gates_for(options, family).max_drop, .005);
  EXPECT_FALSE(judges_by_answers(options, family, .995));
}

AdviseOptions example_options() {
  AdviseOptions options;
  options.budget = 6;
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
  EXPECT_LE(advice.quality_samples, 128U);
  ASSERT_FALSE(advice.baseline.metrics.empty());
  EXPECT_EQ(advice.baseline.metrics[0].name, "top1_accuracy");
  ASSERT_EQ(advice.methods.size(), 6U);
  for (const MethodFinding& method : advice.methods) EXPECT_NE(method.is_measured, !method.why_not.empty());
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
