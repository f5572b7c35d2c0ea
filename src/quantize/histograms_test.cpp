#include "quantize/observation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace ounce::quantization {
namespace {

std::uint64_t sum(const ValueHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
}

ValueHistogram of_weight(const std::vector<float>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), 4 * values.size());
  return histogram_of(quant::FloatSource(bytes, quant::FloatType::kFloat32));
}

TEST(Histograms, EveryWeightIsInABin) {
  std::vector<float> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  const ValueHistogram histogram = of_weight(values);
  EXPECT_EQ(histogram.counts.size(), ValueHistogram::kBins);
  EXPECT_EQ(sum(histogram), values.size());
  EXPECT_NEAR(histogram.low, -1, 1e-3);
  EXPECT_NEAR(histogram.high, 1, 1e-3);
  EXPECT_GT(histogram.counts.front(), histogram.counts[ValueHistogram::kBins / 2]);  // as in a sine wave
}

TEST(Histograms, OfManyWeightsAMillionIsSeen) {
  const std::vector<float> values(3'000'000, 1);
  const ValueHistogram histogram = of_weight(values);
  EXPECT_EQ(histogram.counts.size(), 1U);
  EXPECT_EQ(sum(histogram), 256U * 4096U);
}

TEST(Histograms, WhatIsNotFiniteIsLeftOut) {
  EXPECT_EQ(sum(of_weight({1, NAN, INFINITY, 2})), 2U);
  EXPECT_TRUE(of_weight({NAN}).counts.empty());
}

TEST(Histograms, WhatLiesOutsideOfTheRangeIsClipped) {
  calibration::Statistics value;
  std::vector<float> values(99, 0.5F);
  values.push_back(8);
  value.add(values);
  const ValueHistogram all = histogram_of(value, {0, 8});
  EXPECT_EQ(sum(all), 100U);
  EXPECT_EQ(all.clipped_share, 0);
  EXPECT_DOUBLE_EQ(*histogram_of(value, {0, 1}).clipped_share, 0.01);
}

}  // namespace
}  // namespace ounce::quantization
