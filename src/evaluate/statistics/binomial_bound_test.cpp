#include "evaluate/statistics/certainty.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

namespace ounce::evaluate {
namespace {

// Reference values: 1 − α^(1/n) without events; the others are from tables of the Clopper-Pearson interval.
TEST(BinomialBoundTest, WithoutEventsItIsTheRuleThatEveryoneKnows) {
  for (const double n : {1.0, 20.0, 100.0, 5000.0})
    EXPECT_NEAR(binomial_upper({0, n}, 0.9), 1 - std::pow(0.1, 1 / n), 1e-12);
  EXPECT_NEAR(1 - binomial_upper({0, 100}, 0.9), 0.9772, 1e-4);
  EXPECT_LT(1 - binomial_upper({0, 113}, 0.9), 0.98);
  EXPECT_GE(1 - binomial_upper({0, 114}, 0.9), 0.98);
}

TEST(BinomialBoundTest, KnownIntervals) {
  EXPECT_NEAR(binomial_lower({5, 10}, 0.975), 0.187086, 1e-6);
  EXPECT_NEAR(binomial_upper({5, 10}, 0.975), 0.812914, 1e-6);
  EXPECT_NEAR(binomial_lower({1, 20}, 0.975), 0.001265, 1e-6);
  EXPECT_NEAR(binomial_upper({1, 20}, 0.975), 0.248733, 1e-6);
  EXPECT_NEAR(binomial_upper({10, 100}, 0.975), 0.176223, 1e-6);
  EXPECT_EQ(binomial_upper({10, 10}, 0.9), 1);
  EXPECT_EQ(binomial_lower({0, 10}, 0.9), 0);
  EXPECT_EQ(binomial_upper({0, 0}, 0.9), 1);
}

TEST(BinomialBoundTest, KnownQuantiles) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.1), -1.281552, 1e-6);
  EXPECT_NEAR(student_quantile(0.95, 1), 6.313752, 1e-5);
  EXPECT_NEAR(student_quantile(0.9, 9), 1.383029, 1e-6);
  EXPECT_NEAR(student_quantile(0.1, 9), -1.383029, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.959966, 1e-5);
}

TEST(BinomialBoundTest, WithNothingWonTheLossHasItsExactBound) {
  EXPECT_DOUBLE_EQ(paired_upper({3, 50}, {0, 50}, 0.9), binomial_upper({3, 50}, 0.9));
  EXPECT_LT(paired_upper({3, 50}, {3, 50}, 0.9), binomial_upper({3, 50}, 0.9));
}

double chance(int lost, int won, int all, double p_lost, double p_won) {
  const auto log_power = [](int count, double p) { return count == 0 ? 0 : count * std::log(p); };
  return std::exp(std::lgamma(all + 1) - std::lgamma(lost + 1) - std::lgamma(won + 1) -
                  std::lgamma(all - lost - won + 1) + log_power(lost, p_lost) + log_power(won, p_won) +
                  log_power(all - lost - won, 1 - p_lost - p_won));
}

// Sums over every outcome of 40 samples, weighted by its probability: the bound is below the true loss at
// most as often as its confidence allows.
TEST(BinomialBoundTest, ThePairedBoundErrsNoMoreOftenThanItSays) {
  constexpr int kAll = 40;
  for (const double confidence : {0.9, 0.95}) {
    for (const double p_lost : {0.01, 0.03, 0.08, 0.2}) {
      for (const double p_won : {0.0, 0.01, 0.05, 0.15}) {
        double errs = 0;
        for (int lost = 0; lost <= kAll; ++lost) {
          for (int won = 0; lost + won <= kAll; ++won) {
            if (p_won == 0 && won > 0) continue;
            const double p = chance(lost, won, kAll, p_lost, p_won);
            if (p < 1e-7) continue;
            const double bound =
                paired_upper({static_cast<double>(lost), kAll}, {static_cast<double>(won), kAll}, confidence);
            if (bound < p_lost - p_won) errs += p;
          }
        }
        EXPECT_LE(errs, 1.05 * (1 - confidence)) << p_lost << " " << p_won << " " << confidence;
      }
    }
  }
}

TEST(BinomialBoundTest, CanBeAskedByManyThreads) {  // for ThreadSanitizer
  const double alone = student_quantile(0.9, 7);
  std::vector<double> answers(4);
  std::vector<std::thread> threads;
  for (double& answer : answers) threads.emplace_back([&answer] { answer = student_quantile(0.9, 7); });
  for (std::thread& thread : threads) thread.join();
  for (const double answer : answers) EXPECT_EQ(answer, alone);
}

}  // namespace
}  // namespace ounce::evaluate
