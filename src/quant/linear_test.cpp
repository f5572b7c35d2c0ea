#include "quant/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace ounce::quant {
namespace {

std::vector<float> gaussian(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

std::string_view bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

struct Trip {
  std::vector<kernels::Affine> affine;
  std::vector<std::uint8_t> codes;
  std::vector<float> decoded;
  double error = 0;
};

Trip round_trip(const std::vector<float>& values, const Layout& layout, const LinearFormat& format,
                ScaleMethod method, std::size_t kernel = 0) {
  const FloatSource source(bytes_of(values), FloatType::kFloat32);
  Trip trip;
  const auto ranges = find_ranges(source, layout, run_serially);
  trip.affine = find_affine(source, layout, format, ranges, method, run_serially);
  trip.codes.resize(values.size());
  trip.decoded.resize(values.size());
  encode_linear(source, layout, format, trip.affine, kernel, 0, values.size(), trip.codes.data());
  decode_linear(trip.codes.data(), layout, format, trip.affine, 0, values.size(), trip.decoded.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    trip.error += std::pow(static_cast<double>(values[i]) - static_cast<double>(trip.decoded[i]), 2);
  return trip;
}

const std::vector<Layout> kLayouts = {{1, 1, 1, 4096}, {1, 1, 64, 64}, {1, 64, 64, 1},
                                      {1, 16, 32, 8},  {2, 32, 64, 1}, {1, 1, 128, 32}};
const std::vector<LinearFormat> kFormats = {
    kSymmetricInt8,         kAsymmetricInt8,         kSymmetricInt4,        linear_format(4, false),
    linear_format(4, true), linear_format(6, false), linear_format(3, true)};

TEST(Linear, SearchingIsNeverWorseThanTheLargestValue) {
  const auto values = gaussian(4096);
  for (const Layout& layout : kLayouts) {
    for (const LinearFormat& format : kFormats) {
      const double absmax = round_trip(values, layout, format, ScaleMethod::kAbsMax).error;
      const double mse = round_trip(values, layout, format, ScaleMethod::kMse).error;
      EXPECT_LE(mse, absmax * 1.0001);
    }
  }
}

TEST(Linear, EveryValueDecodesToWithinHalfAStepWhenNothingIsClipped) {
  const auto values = gaussian(4096);
  for (const Layout& layout : kLayouts) {
    for (const LinearFormat& format : {kSymmetricInt8, kAsymmetricInt8}) {
      const Trip trip = round_trip(values, layout, format, ScaleMethod::kMse);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t group =
            i / layout.panel_size() * layout.channels + i / layout.inner % layout.channels;
        // Asymmetric quantization may shift by another half step to make zero exact.
        EXPECT_LE(std::abs(values[i] - trip.decoded[i]),
                  trip.affine[group].scale * (format.is_symmetric ? 0.502F : 1.01F));
      }
    }
  }
}

TEST(Linear, ZerosStayExact) {
  auto values = gaussian(4096);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 0;
  for (const Layout& layout : kLayouts) {
    for (const LinearFormat& format : kFormats) {
      const Trip trip = round_trip(values, layout, format, ScaleMethod::kMse);
      for (std::size_t i = 0; i < values.size(); i += 3) EXPECT_EQ(trip.decoded[i], 0.0F);
    }
  }
}

TEST(Linear, RangesEncodeTheSameInPieces) {
  const auto values = gaussian(4096);
  const FloatSource source(bytes_of(values), FloatType::kFloat32);
  for (const Layout& layout : kLayouts) {
    const Trip whole = round_trip(values, layout, kSymmetricInt8, ScaleMethod::kMse);
    std::vector<std::uint8_t> codes(values.size());
    for (std::size_t first = 0; first < values.size(); first += 100) {
      encode_linear(source, layout, kSymmetricInt8, whole.affine, 0, first,
                    std::min<std::size_t>(100, values.size() - first), codes.data() + first);
    }
    EXPECT_EQ(codes, whole.codes);
  }
}

TEST(Linear, GroupsOfZerosAndOfSubnormalsGetFiniteScales) {
  std::vector<float> values(128, 0.0F);
  for (std::size_t i = 64; i < 128; ++i) values[i] = 1e-42F;
  const Trip trip = round_trip(values, {1, 1, 2, 64}, kSymmetricInt8, ScaleMethod::kMse);
  for (const kernels::Affine& affine : trip.affine) {
    EXPECT_TRUE(std::isnormal(affine.scale));
    EXPECT_TRUE(std::isfinite(affine.inverse));
  }
  for (const float value : trip.decoded) EXPECT_TRUE(std::isfinite(value));
}

TEST(Linear, HugeValuesStayFinite) {
  std::vector<float> values(64, 3e38F);
  values[1] = -3.4e38F;
  const Trip trip = round_trip(values, {1, 1, 1, 64}, kSymmetricInt8, ScaleMethod::kMse);
  for (const float value : trip.decoded) EXPECT_TRUE(std::isfinite(value));
}

TEST(Linear, HalfScalesAreNumbersThat16BitFloatsHold) {
  LinearFormat format = kSymmetricInt8;
  format.half_scales = true;
  const Trip trip = round_trip(gaussian(4096), {1, 1, 64, 64}, format, ScaleMethod::kMse);
  for (const kernels::Affine& affine : trip.affine) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &affine.scale, sizeof bits);
    EXPECT_EQ(bits & 0x1fffU, 0U);
  }
}

TEST(Linear, HalfScalesAreRefusedWhereTheyWouldLosePrecision) {
  kernels::Range usual, tiny, huge;
  for (auto [range, value] : {std::pair{&usual, 1.0F}, {&tiny, 1e-5F}, {&huge, 1e8F}}) {
    kernels::range_of_run(reinterpret_cast<const std::byte*>(&value), 1, *range);
  }
  EXPECT_TRUE(fits_half_scales({usual, usual}, kSymmetricInt8));
  EXPECT_FALSE(fits_half_scales({usual, tiny}, kSymmetricInt8));
  EXPECT_FALSE(fits_half_scales({usual, huge}, kSymmetricInt8));
}

TEST(Linear, OtherFloatTypesAreReadAsTheirValues) {
  const std::vector<double> doubles = {1.0, -2.0, 0.5, 0.25};
  const FloatSource source({reinterpret_cast<const char*>(doubles.data()), doubles.size() * sizeof(double)},
                           FloatType::kFloat64);
  const auto ranges = find_ranges(source, {1, 1, 1, 4}, run_serially);
  EXPECT_EQ(ranges[0].min, -2.0F);
  EXPECT_EQ(ranges[0].max, 1.0F);
}

}  // namespace
}  // namespace ounce::quant
