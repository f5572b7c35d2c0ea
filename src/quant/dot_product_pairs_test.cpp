#include "quant/dot_product_pairs.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/thread_pool.h"
#include "quant/linear.h"
#include "quant/reconstruct.h"

namespace ounce::quant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Le;
using testing::Pair;
using Order = DotProductPairs::Order;

std::vector<std::pair<std::size_t, std::size_t>> pairs_in(const DotProductPairs& pairs, std::size_t size) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for_each_pair(pairs, size, [&](std::size_t, std::size_t i, std::size_t j) { found.emplace_back(i, j); });
  return found;
}

TEST(DotProductPairs, OfAMatrixAreNeighboursInAColumn) {
  // [K = 5, N = 2]: the fifth row has no partner.
  EXPECT_THAT(pairs_in({Order::kColumns, 5, 1, 2}, 10),
              ElementsAre(Pair(0, 2), Pair(1, 3), Pair(4, 6), Pair(5, 7)));
}

TEST(DotProductPairs, EndWithEachMatrix) {
  EXPECT_THAT(pairs_in({Order::kColumns, 3, 1, 1}, 6), ElementsAre(Pair(0, 1), Pair(3, 4)));
}

TEST(DotProductPairs, OfAConvolutionAreChannelsOfOneTap) {
  // [M = 1, C = 2, taps = 3]
  EXPECT_THAT(pairs_in({Order::kRows, 2, 3, 0}, 6), ElementsAre(Pair(0, 3), Pair(1, 4), Pair(2, 5)));
}

TEST(DotProductPairs, OfAnOddNumberOfChannelsCrossTheTaps) {
  // [M = 1, C = 3, taps = 2]: c0 c1 | c2 of tap 0, c0 of tap 1 | c1 c2 of tap 1
  EXPECT_THAT(pairs_in({Order::kRows, 3, 2, 0}, 6), ElementsAre(Pair(0, 2), Pair(4, 1), Pair(3, 5)));
}

TEST(DotProductPairs, OfNothingAreNone) {
  EXPECT_THAT(pairs_in({}, 8), IsEmpty());
  EXPECT_THAT(pairs_in({Order::kRows, 0, 1, 0}, 8), IsEmpty());
  EXPECT_THAT(pairs_in({Order::kColumns, 2, 1, 0}, 0), IsEmpty());
}

TEST(DotProductPairs, CountOnlyWhereSignsAgree) {
  EXPECT_EQ(pair_sum(100, 27), 127);
  EXPECT_EQ(pair_sum(-100, -28), 128);
  EXPECT_EQ(pair_sum(100, -100), 0);
  EXPECT_EQ(pair_sum(-128, 127), 0);
  const std::vector<std::int8_t> codes = {127, 127, -127, 127, -128, -1, 64, 64};
  EXPECT_THAT(largest_pair_sums(codes.data(), codes.size(), {Order::kRows, 4, 1, 0}), ElementsAre(254, 129));
}

// For all layouts and granularities, and however values are rounded: no sum of two neighbors exceeds 128.
TEST(DotProductPairs, OfCodesWithWidenedScalesAreSafe) {
  struct Case {
    Layout layout;
    DotProductPairs pairs;
  };
  const std::vector<Case> cases = {
      {{1, 1, 24, 45}, {Order::kRows, 5, 9, 0}},   // Conv [24, 5, 3, 3]
      {{1, 1, 24, 48}, {Order::kRows, 16, 3, 0}},  // Conv [24, 16, 3]
      {{1, 1, 31, 33}, {Order::kRows, 33, 1, 0}},  // Gemm with transB
      {{1, 33, 31, 1}, {Order::kColumns, 33, 1, 31}},
      {{1, 64, 20, 1}, {Order::kColumns, 32, 1, 20}},  // two matrices
      {{1, 1, 1, 1080}, {Order::kRows, 5, 9, 0}},      // one scale for all
      {{1, 1, 1, 1023}, {Order::kColumns, 33, 1, 31}},
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);  // large neighbors are frequent
  for (const Case& test : cases) {
    for (const bool half_scales : {false, true}) {
      std::vector<float> values(test.layout.size());
      for (float& value : values) value = uniform(random);
      const FloatSource source({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)},
                               FloatType::kFloat32);
      LinearFormat format = kSymmetricInt8;
      format.half_scales = half_scales;
      auto ranges = find_ranges(source, test.layout, run_serially);
      const auto plain = find_affine(source, test.layout, format, ranges, ScaleMethod::kMse, run_serially);
      include_pairs(source, test.layout, test.pairs, run_serially, ranges);
      const auto affine = find_affine(source, test.layout, format, ranges, ScaleMethod::kMse, run_serially);
      for (std::size_t g = 0; g < affine.size(); ++g) EXPECT_LE(affine[g].scale, 2.2F * plain[g].scale);
      for (const std::size_t kernel : {std::size_t{0}, std::size_t{1}, test.pairs.taps}) {
        std::vector<std::uint8_t> codes(values.size());
        encode_linear(source, test.layout, format, affine, kernel, 0, values.size(), codes.data());
        EXPECT_THAT(
            largest_pair_sums(reinterpret_cast<const std::int8_t*>(codes.data()), codes.size(), test.pairs),
            testing::Each(Le(kLargestPairSum)));
      }
      if (test.layout.outer != 1 || test.layout.channels == 1) continue;
      const std::size_t k = test.layout.inner;
      std::vector<float> gram(k * k);
      for (float& value : gram) value = 0.2F + 0.1F * uniform(random);
      for (std::size_t i = 0; i < k; ++i) gram[i * k + i] = static_cast<float>(k);
      const std::vector<std::vector<float>> grams = {gram};
      std::vector<std::uint8_t> codes(values.size());
      round_for_output({values, k, affine, 0, format.codes, grams, 0.01F}, run_serially, codes.data());
      EXPECT_THAT(
          largest_pair_sums(reinterpret_cast<const std::int8_t*>(codes.data()), codes.size(), test.pairs),
          testing::Each(Le(kLargestPairSum)));
    }
  }
}

TEST(DotProductPairs, LeaveScalesAloneWhereLargeWeightsAreNoNeighbours) {
  const std::vector<float> values = {1.0F, 0.1F, 0.1F, 1.0F, -1.0F, 1.0F, 0.9F, 0.05F};
  const FloatSource source({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)},
                           FloatType::kFloat32);
  auto ranges = find_ranges(source, {1, 1, 2, 4}, run_serially);
  const auto before = ranges;
  include_pairs(source, {1, 1, 2, 4}, {Order::kRows, 4, 1, 0}, run_serially, ranges);
  EXPECT_FLOAT_EQ(ranges[0].absmax(), 1.1F * 1.001F);  // 1 and 0.1 are paired
  EXPECT_EQ(ranges[1].absmax(), before[1].absmax());
}

// Tiles are split at whole rows, independent of their size.
TEST(DotProductPairs, OfLargeWeightsAreFoundInEveryTile) {
  const std::size_t inputs = 1501, channels = 701;
  std::vector<float> values(inputs * channels, 0.1F);
  values[1400 * channels + 5] = values[1401 * channels + 5] = 1;
  values[1499 * channels + 6] = values[1500 * channels + 6] = 1;  // not a pair: 1498 and 1499 are one
  const FloatSource source({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)},
                           FloatType::kFloat32);
  const Layout layout{1, inputs, channels, 1};
  auto ranges = find_ranges(source, layout, run_serially);
  include_pairs(source, layout, {Order::kColumns, inputs, 1, channels}, run_serially, ranges);
  EXPECT_FLOAT_EQ(ranges[5].absmax(), 2.002F);
  EXPECT_FLOAT_EQ(ranges[6].absmax(), 1.1F * 1.001F);
  EXPECT_FLOAT_EQ(ranges[7].absmax(), 0.2F * 1.001F);
}

}  // namespace
}  // namespace ounce::quant
