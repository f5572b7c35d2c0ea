#include "evaluate/compare/difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numbers.h"
#include "evaluate/statistics/certainty.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

TEST(EvidenceTest, OneAnswerASampleCountsAsItIs) {
  EventCount count;
  for (int i = 0; i < 100; ++i) count.add(i < 3 ? 1 : 0, 1);
  EXPECT_DOUBLE_EQ(count.tally().count, 3);
  EXPECT_DOUBLE_EQ(count.tally().of, 100);
}

TEST(EvidenceTest, AnswersThatChangeTogetherAreFewer) {
  EventCount single, together;
  for (int i = 0; i < 50; ++i) {
    single.add(i < 20 ? 1 : 0, 64);
    together.add(i == 0 ? 20 : 0, 64);
  }
  EXPECT_DOUBLE_EQ(single.tally().count / single.tally().of, together.tally().count / together.tally().of);
  EXPECT_LT(together.tally().of, single.tally().of / 5);
  EXPECT_LE(together.tally().count, 1);
}

TEST(EvidenceTest, WithoutAnyChangeASampleIsNotAllOfItsAnswers) {
  EventCount count;
  for (int i = 0; i < 50; ++i) count.add(0, 64);
  EXPECT_DOUBLE_EQ(count.tally().of, 50 * 64 / 8);
  EXPECT_EQ(count.tally().count, 0);
}

// The noise differs from sample to sample. Over many runs, the bound exceeds the true value about as rarely
// as its confidence says.
TEST(EvidenceTest, TheBootstrapOfDecibelsErrsAboutAsOftenAsItSays) {
  constexpr int kRuns = 400, kSamples = 40;
  Random random(7);
  const auto noise = [&] { return 1e-3 * std::exp(2 * random.uniform()); };
  const double truth = -10 * std::log10(1e-3 * (std::exp(2.0) - 1) / 2);
  int errs = 0;
  for (int run = 0; run < kRuns; ++run) {
    PairedMean energy;
    double total = 0;
    for (int i = 0; i < kSamples; ++i) {
      const double one = noise();
      total += one;
      energy.add(1, one);
    }
    OutputComparison output;
    output.sqnr_db = 10 * std::log10(kSamples / total);
    const Interval interval = energy.difference([](double value) { return 10 * std::log10(value); });
    output.sqnr_deviation_db = (output.sqnr_db - interval.low) / 1.959964;
    VerifyResult result;
    result.samples = result.independent_samples = kSamples;
    errs += Certainty(0.9, result).sqnr(output, 0).value > truth ? 1 : 0;
  }
  EXPECT_LE(errs, 0.13 * kRuns);
  EXPECT_GE(errs, 0.04 * kRuns);
}

TEST(EvidenceTest, DecisionsAndMeanSquaresAreEvidenceToo) {
  OutputMeter meter(data::test::described("y", ElementType::kFloat, {-1, 1}), 0.5);
  OutputEvidence evidence;
  for (int i = 0; i < 50; ++i) {
    const float ours = 0.4F, theirs = i % 10 == 0 ? 0.6F : 0.45F;
    meter.add(data::test::tensor_of<float>({1, 1}, {ours}), data::test::tensor_of<float>({1, 1}, {theirs}));
    evidence.add(meter);
  }
  OutputComparison output = meter.result();
  evidence.fill(output);
  EXPECT_DOUBLE_EQ(output.other_decisions.count, 5);
  EXPECT_DOUBLE_EQ(output.other_decisions.of, 50);
  EXPECT_GT(output.mse_deviation, 0);
  EXPECT_LT(output.mse_deviation, output.mse);
}

}  // namespace
}  // namespace ounce::evaluate
