#include "quant/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ounce::quant {
namespace {

using kernels::Affine;

std::vector<float> random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<float> round_trip_of(const std::vector<float>& values, std::size_t block,
                                 const LinearFormat& format, const BlockSearch& search,
                                 std::vector<Affine>& affine) {
  const std::size_t blocks = values.size() / block;
  affine.resize(blocks);
  find_block_scales(values.data(), 1, blocks, block, format, search, affine.data());
  std::vector<std::uint8_t> codes(values.size());
  kernels::quantize_runs(reinterpret_cast<const std::byte*>(values.data()), blocks, block, affine.data(),
                         format.codes, codes.data());
  std::vector<float> back(values.size());
  kernels::decode_runs(codes.data(), blocks, block, affine.data(), format.sign, back.data());
  return back;
}

double error_of_trip(const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& energy = {}) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (energy.empty() ? 1.0 : double{energy[i]}) * std::pow(double{a[i]} - double{b[i]}, 2);
  return sum;
}

TEST(BlockScales, TheLargestValueIsExactWithoutASearch) {
  for (const unsigned bits : {2U, 4U, 8U}) {
    std::vector<float> values = random_values(64, bits);
    values[5] = 7.25F;  // positive: the negative scale maps it to the far end of the range
    std::vector<Affine> affine;
    const auto back =
        round_trip_of(values, 64, nbits_format(bits, true), {ScaleMethod::kAbsMax, nullptr}, affine);
    EXPECT_FLOAT_EQ(back[5], 7.25F);
    EXPECT_LT(affine[0].scale, 0);
  }
}

TEST(BlockScales, SearchingIsNeverWorseAndMostlyBetter) {
  for (const unsigned bits : {2U, 4U}) {
    for (const bool is_symmetric : {true, false}) {
      const std::vector<float> values = random_values(32 * 200, 3);
      const LinearFormat format = nbits_format(bits, is_symmetric);
      std::vector<Affine> affine;
      const double plain =
          error_of_trip(values, round_trip_of(values, 32, format, {ScaleMethod::kAbsMax, nullptr}, affine));
      const double searched =
          error_of_trip(values, round_trip_of(values, 32, format, {ScaleMethod::kMse, nullptr}, affine));
      EXPECT_LT(searched, 0.9 * plain) << bits << is_symmetric;
    }
  }
}

TEST(BlockScales, EnergyMovesTheErrorToWhereItDoesNotCount) {
  const std::vector<float> values = random_values(64 * 50, 4);
  std::vector<float> energy(values.size());
  for (std::size_t i = 0; i < energy.size(); ++i) energy[i] = i % 8 == 0 ? 50.0F : 0.5F;
  std::vector<Affine> affine;
  const LinearFormat format = nbits_format(4, true);
  const auto even = round_trip_of(values, 64, format, {ScaleMethod::kMse, nullptr}, affine);
  const auto weighted = round_trip_of(values, 64, format, {ScaleMethod::kMse, energy.data()}, affine);
  EXPECT_LT(error_of_trip(values, weighted, energy), 0.85 * error_of_trip(values, even, energy));
  EXPECT_GT(error_of_trip(values, weighted), error_of_trip(values, even));
}

TEST(BlockScales, ZerosAreExact) {
  std::vector<float> values = random_values(32, 5);
  for (float& value : values) value += 3;  // all of the same sign
  values[7] = 0;
  for (const bool is_symmetric : {true, false}) {
    std::vector<Affine> affine;
    EXPECT_EQ(round_trip_of(values, 32, nbits_format(4, is_symmetric), {}, affine)[7], 0) << is_symmetric;
  }
  std::vector<Affine> affine;
  EXPECT_EQ(round_trip_of(std::vector<float>(32), 32, nbits_format(4, true), {}, affine),
            std::vector<float>(32));
}

TEST(BlockScales, HalfScalesAreNumbersThatHalvesHold) {
  LinearFormat format = nbits_format(4, true);
  format.half_scales = true;
  std::vector<float> values = random_values(32, 6);
  for (float& value : values) value *= 1e-6F;  // below the normal range
  std::vector<Affine> affine;
  round_trip_of(values, 32, format, {}, affine);
  EXPECT_GE(std::fabs(affine[0].scale), 0x1p-24F);
  const float steps = affine[0].scale * 0x1p24F;
  EXPECT_EQ(steps, std::nearbyint(steps));
}

TEST(BlockScales, HugeAndTinyValuesGetFiniteScales) {
  for (const float size : {1e-38F, 1e37F}) {
    std::vector<float> values = random_values(32, 7);
    for (float& value : values) value *= size;
    std::vector<Affine> affine;
    for (const float value : round_trip_of(values, 32, nbits_format(4, true), {}, affine))
      EXPECT_TRUE(std::isfinite(value));
    EXPECT_TRUE(std::isfinite(affine[0].inverse));
  }
}

}  // namespace
}  // namespace ounce::quant
