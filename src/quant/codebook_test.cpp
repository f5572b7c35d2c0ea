#include "quant/codebook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <span>

namespace ounce::quant {
namespace {

std::vector<float> fit(const std::vector<float>& values, std::size_t entries) {
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  CodebookFitter fitter(*min, *max);
  fitter.add(std::as_bytes(std::span(values)).data(), values.size());
  return fitter.fit(entries);
}

double error_of(const std::vector<float>& values, const std::vector<double>& codebook) {
  double sum = 0;
  for (const float value : values) {
    double best = std::numeric_limits<double>::infinity();
    for (const double entry : codebook)
      best = std::min(best, std::pow(static_cast<double>(value) - entry, 2));
    sum += best;
  }
  return sum;
}

double error_of(const std::vector<float>& values, const std::vector<float>& codebook) {
  return error_of(values, std::vector<double>(codebook.begin(), codebook.end()));
}

// Tries every split of the sorted values into at most `clusters` intervals.
double best_by_trying_all(const std::vector<float>& sorted, std::size_t begin, std::size_t clusters) {
  if (begin == sorted.size()) return 0;
  if (clusters == 0) return std::numeric_limits<double>::infinity();
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t end = begin + 1; end <= sorted.size(); ++end) {
    const std::vector<float> part(&sorted[begin], &sorted[begin] + (end - begin));
    double mean = 0;
    for (const float value : part) mean += static_cast<double>(value) / static_cast<double>(part.size());
    best = std::min(
        best, error_of(part, std::vector<double>{mean}) + best_by_trying_all(sorted, end, clusters - 1));
  }
  return best;
}

std::vector<float> normal_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.01F, 0.3F);
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(Codebook, LeavesTheSmallestErrorThereIs) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::vector<float> values = normal_values(4 + seed % 8, seed);
    std::sort(values.begin(), values.end());
    for (std::size_t entries = 1; entries <= 4; ++entries) {
      const double best = best_by_trying_all(values, 0, entries);
      EXPECT_NEAR(error_of(values, fit(values, entries)), best, 1e-6) << seed << ' ' << entries;
    }
  }
}

TEST(Codebook, BeatsEvenlySpacedEntriesOnManyValues) {
  const std::vector<float> values = normal_values(200000, 7);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  for (const std::size_t entries : {4U, 16U, 64U}) {
    std::vector<float> even;
    for (std::size_t i = 0; i < entries; ++i) {
      even.push_back(*min + (*max - *min) * static_cast<float>(i) / static_cast<float>(entries - 1));
    }
    EXPECT_LT(error_of(values, fit(values, entries)), 0.6 * error_of(values, even)) << entries;
  }
}

TEST(Codebook, FindsTheKnownOptimumOfANormalDistribution) {
  const std::vector<float> values = normal_values(200000, 7);
  std::vector<float> textbook;  // Max's sixteen quantization levels
  for (const float level : {0.1284F, 0.3881F, 0.6568F, 0.9424F, 1.256F, 1.618F, 2.069F, 2.733F}) {
    textbook.insert(textbook.end(), {0.01F + 0.3F * level, 0.01F - 0.3F * level});
  }
  const double known = error_of(values, textbook);
  const double found = error_of(values, fit(values, 16));
  EXPECT_LE(found, known);
  EXPECT_GT(found, 0.99 * known);
}

TEST(Codebook, IsAscending) {
  for (const std::size_t entries : {1U, 2U, 16U, 256U}) {
    const std::vector<float> codebook = fit(normal_values(50000, 3), entries);
    EXPECT_EQ(codebook.size(), entries);
    EXPECT_TRUE(std::is_sorted(codebook.begin(), codebook.end()));
  }
}

TEST(Codebook, DoesNotDependOnHowTheValuesArrive) {
  std::vector<float> values = normal_values(30000, 11);
  values.resize(33000, 0.0F);
  const std::vector<float> whole = fit(values, 16);
  std::shuffle(values.begin(), values.end(), std::mt19937(5));
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  CodebookFitter left(*min, *max);
  CodebookFitter right(*min, *max);
  const std::byte* bytes = std::as_bytes(std::span(values)).data();
  left.add(bytes, 1001);
  right.add(bytes + 1001 * sizeof(float), 17);
  right.add(bytes + 1018 * sizeof(float), values.size() - 1018);
  left.merge(right);
  EXPECT_EQ(left.fit(16), whole);
}

TEST(Codebook, HoldsFewDistinctValuesExactly) {
  const std::vector<float> levels = {-1.0F, -0.1F, 0.0F, 0.30000001F, 0.7F};
  std::vector<float> values;
  for (std::size_t i = 0; i < 5000; ++i) values.push_back(levels[i * i % levels.size()]);
  const std::set<float> present(values.begin(), values.end());
  std::vector<float> expected(present.begin(), present.end());
  expected.resize(8, expected.back());
  EXPECT_EQ(fit(values, 8), expected);
  EXPECT_EQ(fit({2.5F, 2.5F}, 3), (std::vector<float>{2.5F, 2.5F, 2.5F}));
}

TEST(Codebook, KeepsPrunedWeightsAtZero) {
  std::vector<float> values = normal_values(20000, 13);
  const auto has_zero = [](const std::vector<float>& codebook) {
    return std::ranges::count(codebook, 0.0F) == 1;
  };
  values.resize(24000, 0.0F);  // one in six, more than one in sixteen: zero is fixed
  EXPECT_TRUE(has_zero(fit(values, 16)));
  EXPECT_TRUE(has_zero(fit(values, 256)));
  values.resize(20100);  // one in two hundred, less than one in sixteen: zero is not fixed
  EXPECT_FALSE(has_zero(fit(values, 16)));
}

TEST(Codebook, SurvivesStrangeInput) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1.0F, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 5.0F};
  for (CodebookFitter fitter : {CodebookFitter(1, 1), CodebookFitter(0, 4), CodebookFitter(inf, -inf)}) {
    fitter.add(std::as_bytes(std::span(values)).data(), values.size());
    const std::vector<float> codebook = fitter.fit(2);
    EXPECT_TRUE(std::ranges::all_of(codebook, [](float x) { return std::isfinite(x); }));
  }
  EXPECT_EQ(CodebookFitter(0, 1).fit(2), (std::vector<float>{0.0F, 0.0F}));
  EXPECT_TRUE(CodebookFitter(0, 1).fit(0).empty());
}

TEST(Boundaries, LieMidwayBetweenNeighbours) {
  EXPECT_EQ(boundaries({-1.0F, 0.0F, 0.5F}), (std::vector<float>{-0.5F, 0.25F}));
  EXPECT_TRUE(boundaries({1.0F}).empty());
  EXPECT_TRUE(boundaries({}).empty());
}

}  // namespace
}  // namespace ounce::quant
