#include "evaluate/statistics/certainty.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace ounce::evaluate {
namespace {

double same(double value) { return value; }

struct Pair {
  double reference, candidate;
};

std::vector<Pair> normal_pairs(std::uint32_t seed, std::size_t count, double drop) {
  std::mt19937 random(seed);
  std::normal_distribution<double> shared(0, 3), own(0, 1);
  std::vector<Pair> pairs(count);
  for (Pair& pair : pairs) {
    const double base = shared(random);
    pair.reference = base + own(random);
    pair.candidate = base + own(random) - drop;
  }
  return pairs;
}

Interval interval_of(const std::vector<Pair>& pairs) {
  PairedMean mean;
  for (const Pair& pair : pairs) mean.add(pair.reference, pair.candidate);
  return mean.difference(same);
}

// The textbook bootstrap: draws n of n samples with replacement.
Interval plain_bootstrap(const std::vector<Pair>& pairs) {
  std::mt19937 random(99);
  std::uniform_int_distribution<std::size_t> any(0, pairs.size() - 1);
  std::vector<double> results;
  for (int round = 0; round < 4000; ++round) {
    double total = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Pair& pair = pairs[any(random)];
      total += pair.reference - pair.candidate;
    }
    results.push_back(total / static_cast<double>(pairs.size()));
  }
  return middle(std::move(results));
}

TEST(PairedBootstrapTest, WeightsAreOneInTheMeanAndVaryByOne) {
  std::array<std::uint8_t, kReplicas> weights{};
  double sum = 0, squares = 0, absent = 0;
  constexpr std::uint64_t kSamples = 1000;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    draw_weights(sample, weights);
    for (const double weight : weights) sum += weight, squares += weight * weight, absent += weight == 0;
  }
  constexpr double kDraws = kSamples * kReplicas;
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 1, 0.005);
  EXPECT_NEAR(squares / kDraws - mean * mean, 1, 0.01);
  EXPECT_NEAR(absent / kDraws, std::exp(-1), 0.003);
}

TEST(PairedBootstrapTest, SamplesAndReplicasAreDrawnIndependently) {
  std::array<std::uint8_t, kReplicas> before{}, now{};
  draw_weights(0, before);
  double across = 0, along = 0;
  for (std::uint64_t sample = 1; sample <= 1000; ++sample) {
    draw_weights(sample, now);
    for (std::size_t i = 0; i < kReplicas; ++i) {
      across += (now[i] - 1.0) * (before[i] - 1.0);
      if (i != 0) along += (now[i] - 1.0) * (now[i - 1] - 1.0);
    }
    before = now;
  }
  EXPECT_NEAR(across / 1e6, 0, 0.005);
  EXPECT_NEAR(along / 1e6, 0, 0.005);
}

TEST(PairedBootstrapTest, TheSameDrawsEveryTime) {
  std::array<std::uint8_t, kReplicas> first{}, second{}, other{};
  draw_weights(17, first);
  draw_weights(17, second);
  draw_weights(18, other);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  const Interval one = interval_of(normal_pairs(1, 50, 0)), two = interval_of(normal_pairs(1, 50, 0));
  EXPECT_EQ(one.low, two.low);
  EXPECT_EQ(one.high, two.high);
}

TEST(PairedBootstrapTest, TheMiddleLeavesOutTheTails) {
  std::vector<double> results;
  for (int i = 200; i >= 0; --i) results.push_back(i);
  results.push_back(std::numeric_limits<double>::quiet_NaN());
  const Interval interval = middle(results);
  EXPECT_EQ(interval.low, 5);
  EXPECT_EQ(interval.high, 195);
  EXPECT_EQ(middle({}).high, 0);
}

TEST(PairedBootstrapTest, MeansAreOfAllValues) {
  PairedMean mean;
  EXPECT_TRUE(std::isnan(mean.reference()));
  mean.add(3, 2, 3);
  mean.add(1, 0, 1);
  EXPECT_EQ(mean.reference(), 1);
  EXPECT_EQ(mean.candidate(), 0.5);
}

TEST(PairedBootstrapTest, TheIntervalIsThatOfDrawingWithReplacement) {
  const std::vector<Pair> pairs = normal_pairs(5, 400, 0.3);
  const Interval ours = interval_of(pairs), plain = plain_bootstrap(pairs);
  const double width = plain.high - plain.low;
  EXPECT_NEAR(ours.low, plain.low, 0.08 * width);
  EXPECT_NEAR(ours.high, plain.high, 0.08 * width);
}

TEST(PairedBootstrapTest, PairsCancelWhatTheyShare) {
  PairedMean mean;
  for (int i = 0; i < 100; ++i) mean.add(i % 7 + 0.25, i % 7);
  const Interval interval = mean.difference(same);
  EXPECT_NEAR(interval.low, 0.25, 1e-12);
  EXPECT_NEAR(interval.high, 0.25, 1e-12);
}

TEST(PairedBootstrapTest, TransformsTheMeansBeforeTheirDifference) {
  PairedMean mean;
  for (int i = 0; i < 10; ++i) mean.add(1, 2);
  const Interval interval = mean.difference([](double value) { return std::exp(value); });
  EXPECT_NEAR(interval.low, std::exp(1) - std::exp(2), 1e-12);
}

// 95 % of the intervals should contain the true value; with 300 runs, 90 to 100 % is within 4 standard
// deviations.
TEST(PairedBootstrapTest, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  int held = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Interval interval = interval_of(normal_pairs(seed, 200, 0.5));
    held += interval.low <= 0.5 && 0.5 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 270);
  EXPECT_LT(held, 300);
}

}  // namespace
}  // namespace ounce::evaluate
