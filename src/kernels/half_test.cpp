#include "kernels/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

template <class T>
const std::byte* bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values)).data();
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

// All binary32 values near thresholds of either format, and many others.
std::vector<float> telling_floats() {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (const std::uint32_t mantissa :
         {0U,        0xfffU,    0x1000U,   0x1001U,   0x2fffU,   0x3000U,   0x7fffU,
          0x8000U,   0x8001U,   0x17fffU,  0x18000U,  0x400000U, 0x7fdfffU, 0x7fe000U,
          0x7fefffU, 0x7ff000U, 0x7ff001U, 0x7f7fffU, 0x7f8000U, 0x7fffffU}) {
      bits.insert(bits.end(), {exponent << 23 | mantissa, 1U << 31 | exponent << 23 | mantissa});
    }
  }
  for (const std::uint32_t edge : {0x33000000U, 0x387fe000U, 0x38800000U, 0x477ff000U, 0x47800000U, 0x8000U,
                                   0x7f8000U, 0x800000U, 0x7f7f8000U, 0x7f800000U}) {
    for (std::uint32_t near = edge - 3; near <= edge + 3; ++near)
      bits.insert(bits.end(), {near, near | 1U << 31});
  }
  std::mt19937 random(13);
  for (int i = 0; i < 300000; ++i) bits.push_back(static_cast<std::uint32_t>(random()));
  std::vector<float> values;
  values.reserve(bits.size());
  for (const std::uint32_t b : bits) values.push_back(std::bit_cast<float>(b));
  return values;
}

template <class Kernel, class Reference>
void expect_narrowing_is_reference(Kernel kernel, Reference reference) {
  const std::vector<float> values = telling_floats();
  std::vector<std::uint16_t> want(values.size());
  HalfStats want_stats;
  reference(bytes_of(values), values.size(), want.data(), want_stats);
  on_every_target([&] {
    std::vector<std::uint16_t> got(values.size());
    HalfStats stats;
    kernel(bytes_of(values), values.size(), got.data(), stats);
    EXPECT_EQ(got, want);
    EXPECT_EQ(stats, want_stats);
    RandomWeights random(14);
    for (std::size_t round = 0; round < 100; ++round) {
      const std::size_t n = round < 40 ? round : random.length(2100);
      const WeightsAt x(random.length(7),
                        random.sprinkled(n, {1e-5F, -1e-8F, 1e-41F, 1e5F, 3.4e38F, kInf, kNan, 0}));
      std::vector<std::uint16_t> some(n), same(n);
      HalfStats some_stats, same_stats;
      kernel(x.data(), n, some.data(), some_stats);
      reference(x.data(), n, same.data(), same_stats);
      ASSERT_EQ(some, same);
      ASSERT_EQ(some_stats, same_stats);
    }
  });
}

TEST(F32ToF16, IsTheReferenceOnEveryTarget) { expect_narrowing_is_reference(f32_to_f16, ref::f32_to_f16); }
TEST(F32ToBf16, IsTheReferenceOnEveryTarget) { expect_narrowing_is_reference(f32_to_bf16, ref::f32_to_bf16); }

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> all(65536);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  return all;
}

TEST(F16ToF32, RoundTripsEveryPattern) {
  std::vector<std::uint16_t> expected = all_halves();
  for (std::uint16_t& half : expected) {
    if ((half & 0x7fff) > 0x7c00) half |= 0x0200;  // NaNs become quiet
  }
  on_every_target([&] {
    const std::vector<std::uint16_t> all = all_halves();
    std::vector<float> wide(all.size()), want(all.size());
    f16_to_f32(bytes_of(all), all.size(), wide.data());
    ref::f16_to_f32(bytes_of(all), all.size(), want.data());
    EXPECT_EQ(bits_of(wide), bits_of(want));
    std::vector<std::uint16_t> back(all.size());
    HalfStats stats;
    f32_to_f16(bytes_of(wide), wide.size(), back.data(), stats);
    EXPECT_EQ(back, expected);
    EXPECT_EQ(stats, (HalfStats{0, 2046, 0}));
  });
}

TEST(Bf16ToF32, RoundTripsEveryPattern) {
  std::vector<std::uint16_t> expected = all_halves();
  for (std::uint16_t& half : expected) {
    if ((half & 0x7fff) > 0x7f80) half |= 0x0040;
  }
  on_every_target([&] {
    const std::vector<std::uint16_t> all = all_halves();
    std::vector<float> wide(all.size()), want(all.size());
    bf16_to_f32(bytes_of(all), all.size(), wide.data());
    ref::bf16_to_f32(bytes_of(all), all.size(), want.data());
    EXPECT_EQ(bits_of(wide), bits_of(want));
    std::vector<std::uint16_t> back(all.size());
    HalfStats stats;
    f32_to_bf16(bytes_of(wide), wide.size(), back.data(), stats);
    EXPECT_EQ(back, expected);
    EXPECT_EQ(stats, (HalfStats{0, 254, 0}));
  });
}

TEST(F16ToF32, WorksAtAnyLengthAndAlignment) {
  on_every_target([] {
    const std::vector<std::uint16_t> all = all_halves();
    for (std::size_t n = 0; n < 70; ++n) {
      std::vector<std::byte> odd(1 + n * 2);
      std::copy_n(bytes_of(all) + 62000, n * 2, odd.begin() + 1);
      std::vector<float> got(n), want(n);
      f16_to_f32(odd.data() + 1, n, got.data());
      ref::f16_to_f32(odd.data() + 1, n, want.data());
      ASSERT_EQ(bits_of(got), bits_of(want));
    }
  });
}

TEST(F32ToF16, NamesWhatItDidToTheValues) {
  const std::vector<float> values = {65504.0F, 65519.99F, 65520.0F, -1e30F, kInf,
                                     6.0e-5F,  1e-9F,     0.0F,     -0.0F,  1.0F};
  std::vector<std::uint16_t> out(values.size());
  HalfStats stats;
  f32_to_f16(bytes_of(values), values.size(), out.data(), stats);
  EXPECT_EQ(stats, (HalfStats{2, 1, 1}));
  EXPECT_EQ(out, (std::vector<std::uint16_t>{0x7bff, 0x7bff, 0x7c00, 0xfc00, 0x7c00, 0x03ef, 0, 0, 0x8000,
                                             0x3c00}));
}

TEST(F64ToF32, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    std::mt19937_64 random(15);
    for (std::size_t n = 0; n < 200; ++n) {
      std::vector<double> values(n);
      for (double& value : values) {
        value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 400) - 260);
        if (random() % 20 == 0) value = std::bit_cast<double>(random() | 0x7ff0000000000000U);
        if (random() % 20 == 0) value = 1e300;
      }
      std::vector<std::byte> odd(3 + n * 8);
      std::copy_n(bytes_of(values), n * 8, odd.begin() + 3);
      std::vector<float> got(n), want(n);
      f64_to_f32(odd.data() + 3, n, got.data());
      ref::f64_to_f32(odd.data() + 3, n, want.data());
      ASSERT_EQ(bits_of(got), bits_of(want));
    }
  });
}

}  // namespace
}  // namespace ounce::kernels
