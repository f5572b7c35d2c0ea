#include <gtest/gtest.h>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/random_affine.h"

namespace ounce::kernels {
namespace {

TEST(QuantizeRuns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(3);
    for (int round = 0; round < 200; ++round) {
      const std::size_t n = round < 40 ? static_cast<std::size_t>(round) : random.length(2100);
      const std::size_t runs = 1 + random.length(5);
      const CodeRange range = random_code_range(random);
      const std::vector<Affine> affine = random_affines(random, runs, range);
      std::vector<float> rare = awkward_floats();
      rare.insert(rare.end(), {kInf, -kInf, kNan, -kNan});
      const WeightsAt x(random.length(7), random.sprinkled(runs * n, rare));
      std::vector<std::uint8_t> got(runs * n), want(runs * n);
      quantize_runs(x.data(), runs, n, affine.data(), range, got.data());
      ref::quantize_runs(x.data(), runs, n, affine.data(), range, want.data());
      ASSERT_EQ(got, want) << runs << 'x' << n;
    }
  });
}

TEST(QuantizeColumns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(4);
    for (int round = 0; round < 60; ++round) {
      const std::size_t rows = random.length(12);
      const std::size_t cols = round % 10 == 0 ? 2000 + random.length(200) : random.length(100);
      const std::size_t stride = cols + random.length(3);
      const CodeRange range = random_code_range(random);
      const std::vector<Affine> affine = random_affines(random, cols, range);
      const WeightsAt x(random.length(7), random.sprinkled(rows * stride, awkward_floats()));
      std::vector<std::uint8_t> got(rows * cols), want(rows * cols);
      quantize_columns(x.data(), rows, cols, stride, affine.data(), range, got.data());
      ref::quantize_columns(x.data(), rows, cols, stride, affine.data(), range, want.data());
      ASSERT_EQ(got, want) << rows << 'x' << cols;
    }
  });
}

TEST(Quantize, RoundsHalvesToEven) {
  on_every_target([] {
    const std::vector<float> halves = {0.5F, 1.5F, 2.5F, 3.5F, -0.5F, -1.5F, -2.5F, 0.49999997F, 126.5F};
    const std::vector<std::int8_t> expected = {0, 2, 2, 4, 0, -2, -2, 0, 126};
    std::vector<std::uint8_t> codes(halves.size());
    quantize_run(WeightsAt(0, halves).data(), halves.size(), {1, 1, 0}, {-127, 127}, codes.data());
    for (std::size_t i = 0; i < halves.size(); ++i)
      EXPECT_EQ(static_cast<std::int8_t>(codes[i]), expected[i]);
  });
}

TEST(Quantize, ClampsWhatIsHugeAndCodesNanAsZero) {
  on_every_target([] {
    const std::vector<float> values = {3e38F, -3e38F, kInf, -kInf, kNan, -kNan, 1e10F, -1e10F};
    const std::vector<std::uint8_t> expected = {255, 0, 255, 0, 7, 7, 255, 0};
    std::vector<std::uint8_t> codes(values.size());
    quantize_run(WeightsAt(3, values).data(), values.size(), {0.001F, 1000, 7}, {0, 255}, codes.data());
    EXPECT_EQ(codes, expected);
  });
}

TEST(DecodeRuns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(5);
    for (int round = 0; round < 100; ++round) {
      const std::size_t n = round < 40 ? static_cast<std::size_t>(round) : random.length(2100);
      const std::size_t runs = 1 + random.length(5);
      const CodeSign sign = round % 2 == 0 ? CodeSign::kSigned : CodeSign::kUnsigned;
      const std::vector<Affine> affine = random_affines(random, runs, {-8, 7});
      const std::vector<std::uint8_t> codes = random.bytes(runs * n);
      std::vector<float> got(runs * n), want(runs * n);
      decode_runs(codes.data(), runs, n, affine.data(), sign, got.data());
      ref::decode_runs(codes.data(), runs, n, affine.data(), sign, want.data());
      ASSERT_EQ(got, want) << runs << 'x' << n;
    }
  });
}

TEST(DecodeColumns, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(6);
    for (int round = 0; round < 60; ++round) {
      const std::size_t rows = random.length(12);
      const std::size_t cols = round % 10 == 0 ? 2000 + random.length(200) : random.length(100);
      const CodeSign sign = round % 2 == 0 ? CodeSign::kSigned : CodeSign::kUnsigned;
      const std::vector<Affine> affine = random_affines(random, cols, {0, 255});
      const std::vector<std::uint8_t> codes = random.bytes(rows * cols);
      std::vector<float> got(rows * cols), want(rows * cols);
      decode_columns(codes.data(), rows, cols, affine.data(), sign, got.data());
      ref::decode_columns(codes.data(), rows, cols, affine.data(), sign, want.data());
      ASSERT_EQ(got, want) << rows << 'x' << cols;
    }
  });
}

}  // namespace
}  // namespace ounce::kernels
