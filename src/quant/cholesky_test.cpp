#include "quant/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/thread_pool.h"

namespace ounce::quant {
namespace {

const ForEach kBackwards = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
  while (steps-- > 0) run(steps);
};

// X Xᵀ / n + share · I, with `rank` random columns in X.
std::vector<float> random_matrix(std::size_t n, std::size_t rank, float share) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> x(n * rank), h(n * n);
  for (float& value : x) value = normal(random);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t r = 0; r < rank; ++r) sum += static_cast<double>(x[i * rank + r] * x[j * rank + r]);
      h[i * n + j] = static_cast<float>(sum / static_cast<double>(rank)) + (i == j ? share : 0.0F);
    }
  }
  return h;
}

TEST(Cholesky, GivesBackTheMatrix) {
  for (const std::size_t n : {16U, 64U, 80U, 208U}) {
    const auto h = random_matrix(n, 2 * n, 0.01F);
    auto u = h;
    factorize(u.data(), n, 0.005F, run_serially);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t r = 0; r < n; ++r) sum += static_cast<double>(u[r * n + i] * u[r * n + j]);
        EXPECT_NEAR(sum, static_cast<double>(h[i * n + j]), 1e-5) << n << ": " << i << ", " << j;
        if (j < i) {
          EXPECT_EQ(u[i * n + j], 0.0F);
        }
      }
    }
  }
}

TEST(Cholesky, IsTheSameInWhateverOrderStepsRun) {
  auto forwards = random_matrix(208, 300, 0.01F), backwards = forwards;
  factorize(forwards.data(), 208, 0.005F, run_serially);
  factorize(backwards.data(), 208, 0.005F, kBackwards);
  EXPECT_EQ(forwards, backwards);
}

TEST(Cholesky, OfAMatrixWithoutFullRankIsFinite) {
  auto u = random_matrix(128, 5, 0.0F);
  factorize(u.data(), 128, 1e-5F, run_serially);
  for (const float value : u) EXPECT_LE(std::abs(value), 10);
}

}  // namespace
}  // namespace ounce::quant
