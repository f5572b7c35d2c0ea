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
    {"Largest", &Gates::max_abs_diff, 0.5, 0.4, "the largest difference of output 'y' is 0.5, at most 0.5",
     "the largest difference of output 'y' is 0.5, more than 0.4"},
    {"Mean", &Gates::mean_abs_diff, 0.2, 0.05, "the mean difference of output 'y' is 0.1, at most 0.2",
     "the mean difference of output 'y' is 0.1, more than 0.05"},
    {"Sqnr", &Gates::min_sqnr, 25, 40,
     "output 'y' has 30.0 dB, 5.0 dB more than the 25 dB of `gates.min_sqnr`",
     "output 'y' has 30.0 dB, 10.0 dB less than the 40 dB of `gates.min_sqnr`"},
    {"Agreement", &Gates::min_agreement, 0.95, 0.99,
     "output 'y' agrees in 97.00 % of answers, at least the 95.00 % of `gates.min_agreement`",
     "output 'y' agrees in 97.00 % of answers, less than the 99.00 % of `gates.min_agreement`"},
    {"MeanSquare", &Gates::max_mse, 0.05, 0.01,
     "the mean squared difference of output 'y' is 0.04, at most 0.05",
     "the mean squared difference of output 'y' is 0.04, more than 0.01"},
    {"Flips", &Gates::max_flips, 0.03, 0.01,
     "output 'y' decides otherwise in 2 of 100, within the 3.00 % of `gates.max_flips`",
     "output 'y' decides otherwise in 2 of 100, more than the 1.00 % of `gates.max_flips`"},
    {"Drop", &Gates::max_drop, 0.03, 0.01,
     "top1_accuracy is worse by 2.00 points, within the 3.00 points of `gates.max_drop`",
     "top1_accuracy is worse by 2.00 points, more than the 1.00 points of `gates.max_drop`"}};

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
  result.outputs[0].newly_not_finite = 1;  // as many, but elsewhere
  EXPECT_EQ(judged({}, result).verdict,
            "failed: output 'y' has 1 NaN or infinite values where the reference has numbers");
}

TEST(GatesTest, WithoutAnythingToJudgeNothingPasses) {
  VerifyResult result = measured();
  result.outputs[0].is_state = true;
  EXPECT_THAT(judged({}, result).verdict, testing::HasSubstr("all of them are states"));
  result = measured();
  Gates gates;
  gates.max_drop = 0.1;
  result.metrics.resize(1);
  result.metrics[0].drop = std::nan("");  // every label is one to be ignored
  EXPECT_THAT(judged(gates, result).verdict, testing::HasSubstr("no label counts"));
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
            "passed: nll is worse by 5.00 % of the reference, within the 6.00 % of `gates.max_drop`");
  gates.max_drop = 0.04;
  EXPECT_FALSE(judged(gates, result).passed);
  metric.drop = 0;
  EXPECT_THAT(judged(gates, result).verdict, HasSubstr("nll stays the same"));
  metric.drop = -0.1;
  EXPECT_THAT(judged(gates, result).verdict, HasSubstr("is better by 5.00 %"));
}

// A gate that cannot be asked must not open.
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
  EXPECT_EQ(result.verdict,
            "failed: output 'y' agrees in 100.00 % of answers, but 100 samples show only 97.72 % or more at "
            "90 % confidence: the 98.00 % of `gates.min_agreement` need 114 of them");
  EXPECT_EQ(result.samples_needed, 114);
  EXPECT_TRUE(result.has_too_few_samples);
  EXPECT_TRUE(judged(agreement_gate(0.98, 0.9), of_samples(0, 114)).passed);
}

TEST(CertaintyTest, WithoutConfidenceTheSamplesDecideAndTheBoundIsShown) {
  const VerifyResult result = judged(agreement_gate(0.98), of_samples(4, 250));
  EXPECT_TRUE(result.passed);
  EXPECT_FALSE(result.is_certain);
  EXPECT_FALSE(result.has_too_few_samples);
  EXPECT_THAT(result.certainty, StartsWith("output 'y' agrees in 98.40 % of answers, but 250 samples show "
                                           "only 96.8"));
  EXPECT_THAT(result.certainty, HasSubstr("need about "));
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
            "passed: output 'y' agrees in 99.90 % of answers, at least the 98.00 % of `gates.min_agreement`; "
            "99.61 % or more at 90 % confidence");
}

TEST(CertaintyTest, NoNumberOfSamplesShowsAll) {
  const VerifyResult result = judged(agreement_gate(1, 0.9), of_samples(0, 1000));
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.samples_needed, 0);
  EXPECT_THAT(result.verdict, HasSubstr("no number of them shows the 100.00 %"));
}

TEST(CertaintyTest, LostAndWonAnswersAreHeldAgainstEachOther) {
  Gates gates;
  gates.max_drop = 0.02;
  gates.confidence = 0.9;
  VerifyResult both = of_samples(10, 500);
  both.metrics[0].won = Tally{8, 500};
  both.metrics[0].drop = 0.004;
  EXPECT_TRUE(judged(gates, both).passed);
  EXPECT_FALSE(judged(gates, of_samples(10, 500)).passed);  // nothing won
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
      "failed: output 'y' has 30.0 dB, but 10 samples show only 28.5 dB or more at 90 % confidence: the "
      "29 dB of `gates.min_sqnr` need 22 of them; but top1_accuracy is no worse: if that is what counts, "
      "give `gates.max_drop`");
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
  EXPECT_EQ(
      failed.verdict,
      "failed: output 'y' decides otherwise in 0 of 100, but 100 samples show only 2.95 % or less at 95 % "
      "confidence: the 0.50 % of `gates.max_flips` need 598 of them");
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
              StartsWith("failed: y[:, 0:4, :]: 32.0 dB, while the whole has 40.0, but 10 samples "
                         "show only 29.1 dB or more at 90 % confidence"));
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
  EXPECT_THAT(confident(&Gates::min_sqnr, 10, result).failures,
              ElementsAre(testing::AllOf(
                  HasSubstr("1 of 200 labels changed, but 200 samples show only 97.6"),
                  HasSubstr("or more the same at 95 % confidence: the 99 % that must be the same "
                            "(`gates.min_agreement` sets another share) need about"))));
}

// Nothing passes at a confidence that cannot be computed.
TEST(CertaintyTest, AGateWithoutABoundIsNotCertain) {
  const VerifyResult largest = confident(&Gates::max_abs_diff, 0.6, of_samples(0, 1000));
  EXPECT_FALSE(largest.passed);
  EXPECT_FALSE(largest.is_certain);
  EXPECT_EQ(
      largest.verdict,
      "failed: the largest difference of output 'y' is 0.5, at most 0.6, but no number of samples bounds the "
      "largest difference on other data: `gates.mean_abs_diff`, `gates.max_mse` and `gates.min_sqnr` have "
      "bounds; without `gates.confidence` these samples decide");
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
  EXPECT_THAT(judged(gates, result).verdict, HasSubstr("one sample tells nothing about others"));
  gates.confidence.reset();
  EXPECT_TRUE(judged(gates, result).passed);
}

// A metric that no sample changed has no spread, and is not certain for that.
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
  EXPECT_EQ(failed.verdict,
            "failed: output 'y' has 19.4 dB, 0.6 dB less than the 20 dB of `gates.min_sqnr`; but every top-1 "
            "answer is the same: if these are what counts, give `gates.min_agreement`");
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
  EXPECT_THAT(judged({}, result).failures,
              ElementsAre("y[:, 4:84, :]: 5.1 dB, while the whole has 25.6: 14.9 dB less than the 20 dB of "
                          "`gates.min_sqnr`"));
  Gates gates;
  gates.min_sqnr = 5;
  EXPECT_EQ(judged(gates, result).verdict,
            "passed: y[:, 4:84, :]: 5.1 dB, while the whole has 25.6: 0.1 dB more than the 5 dB of "
            "`gates.min_sqnr`");
  gates.min_sqnr.reset();
  gates.max_abs_diff = 1;
  EXPECT_TRUE(judged(gates, result).passed) << "slices are for the SQNR alone";
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
              ElementsAre("si_snr is worse by 4 dB, more than the 3 dB of `gates.max_drop`"));
  gates.max_drops = {{"si_snr", 5}};
  EXPECT_EQ(judged(gates, result).verdict,
            "passed: si_snr is worse by 4 dB, within the 5 dB of `gates.max_drop`");
}

// A number between 0 and 1 is no share for that.
TEST(GatesTest, AUnitDoesNotDependOnTheValue) {
  for (const double reference : {0.5, 30.0}) {
    VerifyResult result = measured();
    MetricResult& metric = result.metrics[0];
    metric.reference = reference;
    metric.candidate = reference - 0.02;
    Gates gates;
    gates.max_drop = 0.01;
    metric.unit = MetricUnit::kDecibel;
    EXPECT_THAT(judged(gates, result).verdict, HasSubstr("worse by 0.02 dB, more than the 0.01 dB of"));
    metric.unit = MetricUnit::kAbsolute;
    EXPECT_THAT(judged(gates, result).verdict, HasSubstr("worse by 0.02, more than the 0.01 of"));
    metric.unit = MetricUnit::kShare;
    EXPECT_THAT(judged(gates, result).verdict,
                HasSubstr("worse by 2.00 points, more than the 1.00 points of"));
    metric.unit = MetricUnit::kRelative;
    metric.higher_is_better = true;
    EXPECT_NEAR(loss_of(metric), 0.02 / reference, 1e-12);
  }
}

TEST(GatesTest, AMetricThatIsNotThereFails) {
  Gates gates;
  gates.max_drops = {{"top1", 0.03}};
  EXPECT_THAT(judged(gates).failures,
              ElementsAre("there is no metric 'top1' for `gates.max_drop`; there is top1_accuracy"));
  VerifyResult none = measured();
  none.metrics.clear();
  EXPECT_THAT(judged(gates, none).failures,
              ElementsAre("there is no metric 'top1' for `gates.max_drop`; there is none"));
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
              ElementsAre("mae is worse by 0.02, more than the 0.01 of `gates.max_drop`"));
}

// A reference that reproduces the labels makes an error of rounding, and a share of that says nothing.
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
            "passed: mean_absolute_error is worse by 0.20 % of the labels' size, within the 1.00 % of "
            "`gates.max_drop`");
  EXPECT_NEAR(loss_of(metric), 0.002, 1e-6);
  gates.max_drop = 0.001;
  EXPECT_FALSE(judged(gates, result).passed);
  metric.reference = 1e-3;  // an error that is one
  metric.drop = 5e-6;
  EXPECT_EQ(judged(gates, result).verdict,
            "failed: mean_absolute_error is worse by 0.50 % of the reference, more than the 0.10 % of "
            "`gates.max_drop`");
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
        ElementsAre("output 'label': 21 of 2000 labels changed, more than the limit of 20 (99 % must be "
                    "the same; `gates.min_agreement` sets another share)"));
  }
  EXPECT_FALSE(judged({}, with_labels(2, 20)).passed);
  EXPECT_FALSE(judged({}, with_labels(1, 9)).passed) << "of so few, one is a large share";
  Gates flips;
  flips.max_flips = 0.5;
  EXPECT_TRUE(judged(flips, with_labels(21, 2000)).passed) << "a gate of decisions says nothing of labels";
}

TEST(GatesTest, LabelsAreJudgedByTheAgreementThatIsAskedFor) {
  Gates gates;
  gates.min_agreement = 0.95;
  EXPECT_TRUE(judged(gates, with_labels(80, 2000)).passed);
  EXPECT_THAT(judged(gates, with_labels(120, 2000)).failures,
              ElementsAre("output 'label' agrees in 94.00 % of answers, less than the 95.00 % of "
                          "`gates.min_agreement`"));
  gates.max_abs_diff = 1;
  EXPECT_TRUE(judged(gates, with_labels(80, 2000)).passed) << "instead of the usual share";
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
  EXPECT_FALSE(judged({}, result).passed) << "nothing is left to judge";
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
  EXPECT_FALSE(judged(gates, result).passed) << "a difference is still one";
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
              ElementsAre(HasSubstr("no output decides for `gates.max_flips`: it needs `threshold`")));
}

TEST(GatesTest, ListsAreJudgedByTheirMetricAlone) {
  VerifyResult result = measured();
  result.outputs[0].is_list = true;
  result.outputs[0].sqnr_db = -5;
  EXPECT_THAT(judged({}, result).failures, ElementsAre(HasSubstr("lists of what was found")));
  Gates gates;
  gates.max_drop = 0.03;
  EXPECT_TRUE(judged(gates, result).passed);
}

}  // namespace
}  // namespace ounce::evaluate
