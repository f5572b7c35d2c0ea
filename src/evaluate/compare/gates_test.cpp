#include "evaluate/compare/gates.h"
#include "base/quality.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ounce::evaluate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr double kNoDifference = std::numeric_limits<double>::infinity();

VerifyResult measured() {
  OutputComparison output;
  output.name = "y";
  output.max_abs_diff = 0.5;
  output.mean_abs_diff = 0.1;
  output.sqnr_db = 30;
  output.mse = 0.04;
  output.flips = 2;
  output.decisions = 100;
  output.top1_agreement = 0.97;
  MetricResult metric;
  metric.name = "top1_accuracy";
  metric.reference = 0.8;
  metric.candidate = 0.78;
  metric.drop = 0.02;
  VerifyResult result;
  result.outputs = {output};
  result.metrics = {metric};
  return result;
}

VerifyResult judged(const Gates& gates, VerifyResult result = measured()) {
  judge(gates, result);
  return result;
}

struct GateCase {
  const char* name;
  std::optional<double> Gates::*gate;
  double holds, fails;
  const char *passed, *failed;
};

struct EachGate : testing::TestWithParam<GateCase> {};

TEST_P(EachGate, DecidesAndSaysByHowMuch) {
  Gates gates;
  gates.*GetParam().gate = GetParam().holds;
  const VerifyResult good = judged(gates);
  EXPECT_TRUE(good.passed);
  EXPECT_THAT(good.failures, IsEmpty());
  EXPECT_EQ(good.verdict, std::string("passed: ") + GetParam().passed);
  gates.*GetParam().gate = GetParam().fails;
  const VerifyResult bad = judged(gates);
  EXPECT_FALSE(bad.passed);
  EXPECT_THAT(bad.failures, ElementsAre(GetParam().failed));
  EXPECT_EQ(bad.verdict, std::string("failed: ") + GetParam().failed);
}

const GateCase kCases[] = {
    {"Largest", &Gates::max_abs_diff, 0.5, 0.4,
     "the largest difference of output 'y' is 0.5, within the allowed 0.5",
     "the largest difference of output 'y' is 0.5, more than the allowed 0.4"},
    {"Mean", &Gates::mean_abs_diff, 0.2, 0.05,
     "the mean difference of output 'y' is 0.1, within the allowed 0.2",
     "the mean difference of output 'y' is 0.1, more than the allowed 0.05"},
    {"Sqnr", &Gates::min_sqnr, 25, 40,
     "output 'y' has 30.0 dB SQNR, 5.0 dB more than the required 25 dB (`gates.min_sqnr`)",
     "output 'y' has 30.0 dB SQNR, 10.0 dB less than the required 40 dB (`gates.min_sqnr`)"},
    {"Agreement", &Gates::min_agreement, 0.95, 0.99,
     "output 'y' agrees in 97.00 % of predictions, at least the required 95.00 % (`gates.min_agreement`)",
     "output 'y' agrees in 97.00 % of predictions, less than the required 99.00 % (`gates.min_agreement`)"},
    {"MeanSquare", &Gates::max_mse, 0.05, 0.01,
     "the mean squared difference of output 'y' is 0.04, within the allowed 0.05",
     "the mean squared difference of output 'y' is 0.04, more than the allowed 0.01"},
    {"Flips", &Gates::max_flips, 0.03, 0.01,
     "output 'y' changes 2 of 100 decisions, within the allowed 3.00 % (`gates.max_flips`)",
     "output 'y' changes 2 of 100 decisions, more than the allowed 1.00 % (`gates.max_flips`)"},
    {"Drop", &Gates::max_drop, 0.03, 0.01,
     "top1_accuracy is worse by 2.00 points, within the allowed 3.00 points (`gates.max_drop`)",
     "top1_accuracy is worse by 2.00 points, more than the allowed 1.00 points (`gates.max_drop`)"}};

INSTANTIATE_TEST_SUITE_P(Gates, EachGate, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

TEST(GatesTest, WithoutGatesEveryOutputComesWithinTheDefault) {
  VerifyResult result = measured();
  EXPECT_TRUE(judged({}).passed);
  result.outputs.push_back(result.outputs[0]);
  result.outputs[1].name = "z";
  result.outputs[1].sqnr_db = Quality::kMinUsable - 0.1;
  EXPECT_FALSE(judged({}, result).passed);
  EXPECT_THAT(judged({}, result).verdict, StartsWith("failed: output 'z' has 19.9 dB"));
  Gates other;
  other.max_abs_diff = 1;
  EXPECT_TRUE(judged(other, result).passed);
}

TEST(GatesTest, TheStandardSetDependsOnTheBitsOfTheWeights) {
  Gates gates;
  gates.set = GateSet::kStandard;
  EXPECT_DOUBLE_EQ(with_standard(gates, 8, true).max_drop.value(), 0.02);
  EXPECT_DOUBLE_EQ(with_standard(gates, 16, true).max_drop.value(), 0.005);
  EXPECT_FALSE(with_standard(gates, 8, true).max_mse);
  EXPECT_DOUBLE_EQ(with_standard(gates, 16, false).max_mse.value(), 0.01);
  EXPECT_FALSE(with_standard(gates, 16, false).max_drop);
  gates.max_drop = 0.1;
  EXPECT_DOUBLE_EQ(with_standard(gates, 16, true).max_drop.value(), 0.1);
}

TEST(GatesTest, TheNearestGateIsNamed) {
  VerifyResult result = measured();
  result.outputs.push_back(result.outputs[0]);
  result.outputs[1].name = "z";
  result.outputs[1].sqnr_db = 21;
  EXPECT_THAT(judged({}, result).verdict, HasSubstr("'z' has 21.0 dB"));
}

TEST(GatesTest, IdenticalOutputsAreSaidToBe) {
  VerifyResult result = measured();
  result.outputs[0].sqnr_db = kNoDifference;
  EXPECT_EQ(judged({}, result).verdict, "passed: output 'y' is identical");
}

TEST(GatesTest, EveryFailureIsListed) {
  Gates gates;
  gates.max_abs_diff = 0.1;
  gates.min_sqnr = 50;
  const VerifyResult result = judged(gates);
  EXPECT_EQ(result.failures.size(), 2U);
  EXPECT_THAT(result.verdict, HasSubstr("(and 1 more)"));
}

TEST(GatesTest, NanWhereTheReferenceHasNumbersFails) {
  VerifyResult result = measured();
  result.outputs[0].candidate_not_finite = 2;
  result.outputs[0].reference_not_finite = 2;
  EXPECT_TRUE(judged({}, result).passed);
  result.outputs[0].newly_not_finite = 1;  // as many values, but at other positions
  EXPECT_EQ(judged({}, result).verdict,
            "failed: output 'y' has 1 NaN or infinite values where the reference is finite");
}

TEST(GatesTest, WithoutAnythingToJudgeNothingPasses) {
  VerifyResult result = measured();
  result.outputs[0].is_state = true;
  EXPECT_THAT(judged({}, result).verdict, testing::HasSubstr("all outputs are recurrent states"));
  result = measured();
  Gates gates;
  gates.max_drop = 0.1;
  result.metrics.resize(1);
  result.metrics[0].drop = std::nan("");  // all labels are ignored
  EXPECT_THAT(judged(gates, result).verdict, testing::HasSubstr("all labels are ignored"));
}

TEST(GatesTest, AMeasureThatIsNanFails) {
  VerifyResult result = measured();
  result.outputs[0].sqnr_db = result.outputs[0].max_abs_diff = std::nan("");
  EXPECT_FALSE(judged({}, result).passed);
  Gates gates;
  gates.max_abs_diff = 1;
  EXPECT_FALSE(judged(gates, result).passed);
}

TEST(GatesTest, AnEdgeCaseThatFailsIsAFailure) {
  VerifyResult result = measured();
  result.edge_cases = {{"all zero", true, false, "identical"},
                       {"noise", false, false, "output 'y' explodes"}};
  EXPECT_EQ(judged({}, result).verdict, "failed: edge case 'noise': output 'y' explodes");
}

TEST(GatesTest, FailuresThatWereFoundBeforeStay) {
  VerifyResult result = measured();
  result.failures = {"output 'y' has another shape"};
  EXPECT_FALSE(judged({}, result).passed);
}

TEST(GatesTest, ErrorsDropRelativeToTheReference) {
  VerifyResult result = measured();
  MetricResult& metric = result.metrics[0];
  metric = {"nll", false, 2.0, 2.1, 0.1, 0, 0};
  metric.unit = MetricUnit::kRelative;
  Gates gates;
  gates.max_drop = 0.06;
  EXPECT_EQ(judged(gates, result).verdict,
            "passed: nll is worse by 5.00 % of the reference, within the allowed 6.00 % (`gates.max_drop`)");
  gates.max_drop = 0.04;
  EXPECT_FALSE(judged(gates, result).passed);
  metric.drop = 0;
  EXPECT_THAT(judged(gates, result).verdict, HasSubstr("nll stays the same"));
  metric.drop = -0.1;
  EXPECT_THAT(judged(gates, result).verdict, HasSubstr("is better by 5.00 %"));
}

// A gate without anything to judge must fail.
TEST(GatesTest, AGateWithNothingToJudgeFails) {
  VerifyResult result = measured();
  result.outputs[0].top1_agreement.reset();
  result.metrics.clear();
  Gates agreement, drop;
  agreement.min_agreement = 0.9;
  drop.max_drop = 0.1;
  EXPECT_FALSE(judged(agreement, result).passed);
  EXPECT_THAT(judged(agreement, result).verdict, HasSubstr("`gates.min_agreement`"));
  EXPECT_FALSE(judged(drop, result).passed);
  EXPECT_THAT(judged(drop, result).verdict, HasSubstr("`gates.max_drop`"));
}

VerifyResult of_samples(double others, std::uint64_t samples) {
  VerifyResult result = measured();
  const auto all = static_cast<double>(samples);
  result.samples = result.independent_samples = samples;
  result.outputs[0].top1_agreement = 1 - others / all;
  result.outputs[0].flips.reset();
  result.outputs[0].other_answers = {others, all};
  result.metrics[0].drop = others / all;
  result.metrics[0].lost = Tally{others, all};
  result.metrics[0].won = Tally{0, all};
  return result;
}

Gates agreement_gate(double share, std::optional<double> confidence = {}) {
  Gates gates;
  gates.min_agreement = share;
  gates.confidence = confidence;
  return gates;
}

TEST(CertaintyTest, AHundredEqualAnswersDoNotShowNinetyEightPercent) {
  const VerifyResult result = judged(agreement_gate(0.98, 0.9), of_samples(0, 100));
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(
      result.verdict,
      "failed: output 'y' agrees in 100.00 % of predictions, but 100 samples show only 97.72 % or more at "
      "90 % confidence; to show 98.00 % (`gates.min_agreement`) takes 114 samples");
  EXPECT_EQ(result.samples_needed, 114);
  EXPECT_TRUE(result.has_too_few_samples);
  EXPECT_TRUE(judged(agreement_gate(0.98, 0.9), of_samples(0, 114)).passed);
}

TEST(CertaintyTest, WithoutConfidenceTheSamplesDecideAndTheBoundIsShown) {
  const VerifyResult result = judged(agreement_gate(0.98), of_samples(4, 250));
  EXPECT_TRUE(result.passed);
  EXPECT_FALSE(result.is_certain);
  EXPECT_FALSE(result.has_too_few_samples);
  EXPECT_THAT(result.certainty,
              StartsWith("output 'y' agrees in 98.40 % of predictions, but 250 samples show "
                         "only 96.8"));
  EXPECT_THAT(result.certainty, HasSubstr("takes about "));
  ASSERT_GT(result.samples_needed, 1000);
  const double share = 4.0 / 250;
  EXPECT_TRUE(judged(agreement_gate(0.98, 0.9),
                     of_samples(share * static_cast<double>(result.samples_needed), result.samples_needed))
                  .passed);
}

TEST(CertaintyTest, WhatIsCertainSaysHowMuch) {
  const VerifyResult result = judged(agreement_gate(0.98, 0.9), of_samples(1, 1000));
  EXPECT_TRUE(result.passed);
  EXPECT_TRUE(result.is_certain);
  EXPECT_EQ(result.verdict,
            "passed: output 'y' agrees in 99.90 % of predictions, at least the required 98.00 % "
            "(`gates.min_agreement`); 99.61 % or more at 90 % confidence");
}

TEST(CertaintyTest, NoNumberOfSamplesShowsAll) {
  const VerifyResult result = judged(agreement_gate(1, 0.9), of_samples(0, 1000));
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.samples_needed, 0);
  EXPECT_THAT(result.verdict, HasSubstr("no number of samples can show 100.00 %"));
}

TEST(CertaintyTest, LostAndWonAnswersAreHeldAgainstEachOther) {
  Gates gates;
  gates.max_drop = 0.02;
  gates.confidence = 0.9;
  VerifyResult both = of_samples(10, 500);
  both.metrics[0].won = Tally{8, 500};
  both.metrics[0].drop = 0.004;
  EXPECT_TRUE(judged(gates, both).passed);
  EXPECT_FALSE(judged(gates, of_samples(10, 500)).passed);  // 10 lost, 0 won
  ASSERT_TRUE(judged(gates, both).metrics[0].drop_bound);
  EXPECT_NEAR(*judged(gates, both).metrics[0].drop_bound, 0.0167, 2e-4);
}

TEST(CertaintyTest, DecibelsHaveABound) {
  VerifyResult result = of_samples(0, 10);
  result.outputs[0].sqnr_deviation_db = 1;
  Gates gates;
  gates.min_sqnr = 28.4;
  gates.confidence = 0.9;
  EXPECT_TRUE(judged(gates, result).passed);  // 30 − 1.383 · √(10/9) = 28.54
  gates.min_sqnr = 29;
  const VerifyResult failed = judged(gates, result);
  EXPECT_EQ(
      failed.verdict,
      "failed: output 'y' has 30.0 dB SQNR, but 10 samples show only 28.5 dB or more at 90 % confidence; to "
      "show 29 dB (`gates.min_sqnr`) takes 22 samples; but top1_accuracy is not worse: to judge by it, set "
      "`gates.max_drop`");
  EXPECT_FALSE(failed.has_too_few_samples);
}

VerifyResult with_labels(std::uint64_t changed, std::uint64_t answers) {
  VerifyResult result = measured();
  OutputComparison label;
  label.name = "label";
  label.type = "int64";
  label.is_label = true;
  label.answers = answers;
  label.changed = changed;
  label.top1_agreement = 1 - static_cast<double>(changed) / static_cast<double>(answers);
  label.sqnr_db = 10 * std::log10(static_cast<double>(answers) / static_cast<double>(changed));
  result.outputs.insert(result.outputs.begin(), label);
  result.metrics.clear();
  return result;
}

VerifyResult confident(std::optional<double> Gates::*gate, double limit, const VerifyResult& result,
                       double confidence = 0.95) {
  Gates gates;
  gates.*gate = limit;
  gates.confidence = confidence;
  return judged(gates, result);
}

TEST(CertaintyTest, FlipsHaveABound) {
  VerifyResult result = of_samples(0, 100);
  result.outputs[0].flips = 0;
  result.outputs[0].decisions = 100;
  result.outputs[0].other_decisions = {0, 100};
  const VerifyResult failed = confident(&Gates::max_flips, 0.005, result);
  EXPECT_FALSE(failed.passed);
  EXPECT_FALSE(failed.is_certain);
  EXPECT_EQ(failed.verdict,
            "failed: output 'y' changes 0 of 100 decisions, but 100 samples show only 2.95 % or less at 95 % "
            "confidence; to show 0.50 % (`gates.max_flips`) takes 598 samples");
  EXPECT_TRUE(failed.has_too_few_samples);
  result.samples = result.independent_samples = 598;
  result.outputs[0].decisions = 598;
  result.outputs[0].other_decisions = {0, 598};
  const VerifyResult passed = confident(&Gates::max_flips, 0.005, result);
  EXPECT_TRUE(passed.passed) << passed.verdict;
  EXPECT_TRUE(passed.is_certain);
  EXPECT_NEAR(*passed.outputs[0].flips_high, 0.005, 1e-4);
}

TEST(CertaintyTest, MeanSquaresHaveABound) {
  VerifyResult result = of_samples(0, 10);
  result.outputs[0].mse_deviation = 0.01;
  EXPECT_FALSE(confident(&Gates::max_mse, 0.05, result).passed);  // 0.04 + 1.833 · √(10/9) · 0.01
  EXPECT_THAT(confident(&Gates::max_mse, 0.05, result).verdict,
              HasSubstr("10 samples show only 0.05932 or less at 95 % confidence"));
  EXPECT_TRUE(confident(&Gates::max_mse, 0.06, result).is_certain);
}

TEST(CertaintyTest, TheWorstSliceHasABound) {
  VerifyResult result = of_samples(0, 10);
  OutputSlice scores, boxes;
  scores.name = "y[:, 4:84, :]";
  scores.sqnr_db = 31;
  boxes.name = "y[:, 0:4, :]";
  boxes.sqnr_db = 32;
  boxes.sqnr_deviation_db = 2;
  result.outputs[0].sqnr_db = 40;
  result.outputs[0].slices = {scores, boxes};
  const VerifyResult failed = confident(&Gates::min_sqnr, 30, result, 0.9);
  EXPECT_FALSE(failed.passed);
  EXPECT_THAT(failed.verdict,
              StartsWith("failed: output part y[:, 0:4, :] has 32.0 dB SQNR (whole output: 40.0 dB), but 10 "
                         "samples show only 29.1 dB or more at 90 % confidence"));
  EXPECT_TRUE(confident(&Gates::min_sqnr, 29, result, 0.9).passed);
  EXPECT_TRUE(judged(
                  [] {
                    Gates gates;
                    gates.min_sqnr = 30;
                    return gates;
                  }(),
                  result)
                  .passed)
      << "on these samples";
}

TEST(CertaintyTest, DropsInDecibelsHaveABound) {
  VerifyResult result = of_samples(0, 10);
  MetricResult& metric = result.metrics[0];
  metric = {"si_snr", true, 20, 19.5, 0.5, 0.1, 0.9};
  metric.unit = MetricUnit::kDecibel;
  const VerifyResult failed = confident(&Gates::max_drop, 0.6, result, 0.9);
  EXPECT_FALSE(failed.passed);
  EXPECT_THAT(failed.verdict,
              HasSubstr("si_snr is worse by 0.5 dB, but 10 samples show only a loss of 0.7975 dB or less"));
  EXPECT_TRUE(confident(&Gates::max_drop, 0.8, result, 0.9).is_certain);
}

TEST(CertaintyTest, LabelsHaveABound) {
  VerifyResult result = with_labels(1, 200);
  result.samples = result.independent_samples = 200;
  result.outputs[0].other_answers = {1, 200};
  result.outputs.resize(1);
  EXPECT_THAT(
      confident(&Gates::min_sqnr, 10, result).failures,
      ElementsAre(testing::AllOf(HasSubstr("1 of 200 labels changed, but 200 samples show only 97.6"),
                                 HasSubstr("or more unchanged at 95 % confidence; to show 99 % unchanged "
                                           "(set another share with `gates.min_agreement`) takes about"))));
}

// Without a confidence bound no gate passes a required confidence.
TEST(CertaintyTest, AGateWithoutABoundIsNotCertain) {
  const VerifyResult largest = confident(&Gates::max_abs_diff, 0.6, of_samples(0, 1000));
  EXPECT_FALSE(largest.passed);
  EXPECT_FALSE(largest.is_certain);
  EXPECT_EQ(
      largest.verdict,
      "failed: the largest difference of output 'y' is 0.5, within the allowed 0.6, but no number of samples "
      "bounds the largest difference on unseen data: use `gates.mean_abs_diff`, `gates.max_mse` or "
      "`gates.min_sqnr`, or judge only these samples without `gates.confidence`");
  VerifyResult result = of_samples(0, 1000);
  result.metrics[0].has_interval = false;
  const VerifyResult command = confident(&Gates::max_drop, 0.1, result);
  EXPECT_FALSE(command.passed);
  EXPECT_THAT(command.verdict, HasSubstr("`metric_command` gives one number for all samples"));
}

TEST(CertaintyTest, AGateWithoutABoundMayGoByTheSamples) {
  Gates gates;
  gates.max_abs_diff = 0.6;
  gates.mean_abs_diff = 0.2;
  const VerifyResult unasked = judged(gates, of_samples(0, 1000));
  EXPECT_TRUE(unasked.passed);
  EXPECT_FALSE(unasked.is_certain);
  EXPECT_TRUE(unasked.are_bounds_good);
  EXPECT_THAT(unasked.unbounded, ElementsAre(StartsWith("the largest difference of output 'y' is 0.5")));
  EXPECT_EQ(unasked.certainty, unasked.unbounded[0]);
  gates.confidence = 0.9;
  gates.allow_unbounded = true;
  EXPECT_TRUE(judged(gates, of_samples(0, 1000)).passed);
  EXPECT_FALSE(judged(gates, of_samples(0, 1000)).is_certain);
}

TEST(CertaintyTest, OneSampleTellsNothingAboutOthers) {
  VerifyResult result = of_samples(0, 1);
  Gates gates;
  gates.min_sqnr = 20;
  gates.confidence = 0.9;
  EXPECT_THAT(judged(gates, result).verdict, HasSubstr("one sample says nothing about unseen data"));
  gates.confidence.reset();
  EXPECT_TRUE(judged(gates, result).passed);
}

// A metric that did not change in any sample has no variance, but is not certain.
TEST(CertaintyTest, AShareWithoutAnyChangeMayChangeWithTheNextSample) {
  VerifyResult result = of_samples(0, 20);
  MetricResult& metric = result.metrics[0];
  metric.name = "f1";
  metric.lost = metric.won = {};
  metric.drop = metric.drop_low = metric.drop_high = 0;
  Gates gates;
  gates.max_drop = 0.05;
  gates.confidence = 0.9;
  EXPECT_FALSE(judged(gates, result).passed);
  EXPECT_EQ(judged(gates, result).samples_needed, 45);
}

TEST(CertaintyTest, MadeUpInputsTellNothing) {
  VerifyResult result = of_samples(0, 100);
  result.is_generated = true;
  EXPECT_TRUE(judged(agreement_gate(0.98, 0.9), result).passed);
  EXPECT_EQ(judged(agreement_gate(0.98, 0.9), result).certainty, "");
}

TEST(GatesTest, ValuesThatDifferWhereAllAnswersAreTheSameAreSaidSo) {
  VerifyResult result = of_samples(0, 20);
  result.metrics.clear();
  result.outputs[0].sqnr_db = 19.4;
  const VerifyResult failed = judged({}, result);
  EXPECT_FALSE(failed.passed);
  EXPECT_EQ(
      failed.verdict,
      "failed: output 'y' has 19.4 dB SQNR, 0.6 dB less than the required 20 dB (`gates.min_sqnr`); but all "
      "top-1 predictions are unchanged: to judge by them, set `gates.min_agreement`");
}

TEST(GatesTest, TheWorstSliceOfAnOutputDecidesAndIsNamed) {
  VerifyResult result = measured();
  result.outputs[0].sqnr_db = 25.6;
  OutputSlice scores, boxes;
  scores.name = "y[:, 4:84, :]";
  scores.sqnr_db = 5.1;
  boxes.name = "y[:, 0:4, :]";
  boxes.sqnr_db = 25.7;
  result.outputs[0].slices = {scores, boxes};
  EXPECT_THAT(
      judged({}, result).failures,
      ElementsAre("output part y[:, 4:84, :] has 5.1 dB SQNR (whole output: 25.6 dB), 14.9 dB less than "
                  "the required 20 dB (`gates.min_sqnr`)"));
  Gates gates;
  gates.min_sqnr = 5;
  EXPECT_EQ(judged(gates, result).verdict,
            "passed: output part y[:, 4:84, :] has 5.1 dB SQNR (whole output: 25.6 dB), 0.1 dB more than the "
            "required 5 dB (`gates.min_sqnr`)");
  gates.min_sqnr.reset();
  gates.max_abs_diff = 1;
  EXPECT_TRUE(judged(gates, result).passed) << "slices are judged only by SQNR";
}

TEST(GatesTest, EachMetricHasItsOwnDrop) {
  VerifyResult result = measured();
  MetricResult other;
  other.name = "si_snr";
  other.reference = 30;
  other.candidate = 26;
  other.drop = 4;
  other.unit = MetricUnit::kDecibel;
  result.metrics.push_back(other);
  Gates gates;
  gates.max_drops = {{"top1_accuracy", 0.03}, {"si_snr", 3}};
  EXPECT_THAT(judged(gates, result).failures,
              ElementsAre("si_snr is worse by 4 dB, more than the allowed 3 dB (`gates.max_drop`)"));
  gates.max_drops = {{"si_snr", 5}};
  EXPECT_EQ(judged(gates, result).verdict,
            "passed: si_snr is worse by 4 dB, within the allowed 5 dB (`gates.max_drop`)");
}

// A value between 0 and 1 does not make a metric a share.
TEST(GatesTest, AUnitDoesNotDependOnTheValue) {
  for (const double reference : {0.5, 30.0}) {
    VerifyResult result = measured();
    MetricResult& metric = result.metrics[0];
    metric.reference = reference;
    metric.candidate = reference - 0.02;
    Gates gates;
    gates.max_drop = 0.01;
    metric.unit = MetricUnit::kDecibel;
    EXPECT_THAT(judged(gates, result).verdict,
                HasSubstr("worse by 0.02 dB, more than the allowed 0.01 dB ("));
    metric.unit = MetricUnit::kAbsolute;
    EXPECT_THAT(judged(gates, result).verdict, HasSubstr("worse by 0.02, more than the allowed 0.01 ("));
    metric.unit = MetricUnit::kShare;
    EXPECT_THAT(judged(gates, result).verdict,
                HasSubstr("worse by 2.00 points, more than the allowed 1.00 points ("));
    metric.unit = MetricUnit::kRelative;
    metric.higher_is_better = true;
    EXPECT_NEAR(loss_of(metric), 0.02 / reference, 1e-12);
  }
}

TEST(GatesTest, AMetricThatIsNotThereFails) {
  Gates gates;
  gates.max_drops = {{"top1", 0.03}};
  EXPECT_THAT(judged(gates).failures,
              ElementsAre("`gates.max_drop`: no metric is named 'top1'; metrics: top1_accuracy"));
  VerifyResult none = measured();
  none.metrics.clear();
  EXPECT_THAT(judged(gates, none).failures,
              ElementsAre("`gates.max_drop`: no metric is named 'top1'; metrics: none"));
}

TEST(GatesTest, AnErrorThatTheReferenceDoesNotMakeIsAPlainNumber) {
  VerifyResult result = measured();
  result.metrics[0].name = "mae";
  result.metrics[0].higher_is_better = false;
  result.metrics[0].unit = MetricUnit::kRelative;
  result.metrics[0].reference = 0;
  Gates gates;
  gates.max_drop = 0.01;
  EXPECT_THAT(judged(gates, result).failures,
              ElementsAre("mae is worse by 0.02, more than the allowed 0.01 (`gates.max_drop`)"));
}

// If the reference reproduces the labels, its error is only rounding. A change relative to it would be
// meaningless.
TEST(GatesTest, AnErrorThatIsRoundingIsHeldAgainstTheLabels) {
  VerifyResult result = measured();
  MetricResult& metric = result.metrics[0];
  metric = {"mean_absolute_error", false, 3.3e-8, 1e-3, 1e-3, 0, 0};
  metric.unit = MetricUnit::kRelative;
  metric.label_size = 0.5;
  metric.rounding = 5e-5;
  Gates gates;
  gates.max_drop = 0.01;
  EXPECT_EQ(judged(gates, result).verdict,
            "passed: mean_absolute_error is worse by 0.20 % of the labels' size, within the allowed 1.00 % "
            "(`gates.max_drop`)");
  EXPECT_NEAR(loss_of(metric), 0.002, 1e-6);
  gates.max_drop = 0.001;
  EXPECT_FALSE(judged(gates, result).passed);
  metric.reference = 1e-3;  // more than rounding
  metric.drop = 5e-6;
  EXPECT_EQ(judged(gates, result).verdict,
            "failed: mean_absolute_error is worse by 0.50 % of the reference, more than the allowed 0.10 % "
            "(`gates.max_drop`)");
}

TEST(GatesTest, OneLabelThatChangesIsNoDifferenceOfOne) {
  Gates gates;
  gates.max_abs_diff = 0.6;
  gates.mean_abs_diff = 0.2;
  gates.max_mse = 0.05;
  gates.min_sqnr = 25;
  EXPECT_TRUE(judged(gates, with_labels(1, 20)).passed);
  EXPECT_TRUE(judged({}, with_labels(1, 20)).passed);
  EXPECT_TRUE(judged({}, with_labels(3, 2000)).passed);
}

TEST(GatesTest, GatesOfValuesAskForNinetyNinePercentOfLabels) {
  for (std::optional<double> Gates::*gate : {&Gates::max_abs_diff, &Gates::mean_abs_diff, &Gates::max_mse}) {
    Gates gates;
    gates.*gate = 1e9;
    EXPECT_TRUE(judged(gates, with_labels(20, 2000)).passed);
    EXPECT_THAT(
        judged(gates, with_labels(21, 2000)).failures,
        ElementsAre("output 'label': 21 of 2000 labels changed, more than the allowed 20 (99 % must be "
                    "unchanged; set another share with `gates.min_agreement`)"));
  }
  EXPECT_FALSE(judged({}, with_labels(2, 20)).passed);
  EXPECT_FALSE(judged({}, with_labels(1, 9)).passed) << "with so few labels, one change is a large share";
  Gates flips;
  flips.max_flips = 0.5;
  EXPECT_TRUE(judged(flips, with_labels(21, 2000)).passed) << "max_flips does not judge labels";
}

TEST(GatesTest, LabelsAreJudgedByTheAgreementThatIsAskedFor) {
  Gates gates;
  gates.min_agreement = 0.95;
  EXPECT_TRUE(judged(gates, with_labels(80, 2000)).passed);
  EXPECT_THAT(judged(gates, with_labels(120, 2000)).failures,
              ElementsAre("output 'label' agrees in 94.00 % of predictions, less than the required 95.00 % "
                          "(`gates.min_agreement`)"));
  gates.max_abs_diff = 1;
  EXPECT_TRUE(judged(gates, with_labels(80, 2000)).passed) << "instead of the default share";
}

TEST(GatesTest, OutputsThatAreNotJudgedCannotFail) {
  VerifyResult result = measured();
  OutputComparison other = result.outputs[0];
  other.name = "z";
  other.is_judged = false;
  other.sqnr_db = -30;
  other.max_abs_diff = 1e9;
  other.newly_not_finite = 3;
  other.top1_agreement = 0;
  other.flips = 100;
  result.outputs.push_back(other);
  Gates gates;
  gates.max_abs_diff = 1;
  gates.min_sqnr = 25;
  gates.min_agreement = 0.9;
  gates.max_flips = 0.1;
  EXPECT_THAT(judged(gates, result).failures, IsEmpty());
  result.outputs[0].is_judged = false;
  EXPECT_FALSE(judged({}, result).passed) << "no output is left to judge";
}

TEST(GatesTest, ScoresOfADetectorThatFindsNothingAreNotJudgedByTheirSqnr) {
  VerifyResult result = measured();
  result.metrics.clear();
  result.outputs[0].values = result.outputs[0].silent_values = 100;
  result.outputs[0].sqnr_db = std::nan("");
  EXPECT_EQ(judged({}, result).verdict,
            "passed: output 'y': neither model detects anything in these samples, so SQNR is not judged");
  Gates gates;
  gates.max_abs_diff = 0.1;
  EXPECT_FALSE(judged(gates, result).passed) << "other gates still judge the differences";
}

TEST(GatesTest, AMetricThatWasNotMeasuredSaysWhy) {
  VerifyResult result = measured();
  result.metrics[0] = {"map50", true, std::nan(""), std::nan(""), std::nan(""), 0, 0};
  result.metrics[0].why_not = "no image has an object";
  Gates gates;
  gates.max_drop = 0.01;
  EXPECT_THAT(
      judged(gates, result).failures,
      ElementsAre("map50 was not measured, so `gates.max_drop` cannot be judged: no image has an object"));
}

TEST(GatesTest, FlipsNeedAThreshold) {
  VerifyResult result = measured();
  result.outputs[0].flips.reset();
  Gates gates;
  gates.max_flips = 0.01;
  EXPECT_THAT(judged(gates, result).failures,
              ElementsAre(HasSubstr("`gates.max_flips` has no output to judge: it needs `threshold`")));
}

TEST(GatesTest, ListsAreJudgedByTheirMetricAlone) {
  VerifyResult result = measured();
  result.outputs[0].is_list = true;
  result.outputs[0].sqnr_db = -5;
  EXPECT_THAT(judged({}, result).failures, ElementsAre(HasSubstr("lists of detections")));
  Gates gates;
  gates.max_drop = 0.03;
  EXPECT_TRUE(judged(gates, result).passed);
}

}  // namespace
}  // namespace ounce::evaluate
