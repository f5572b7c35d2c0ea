#include "kernels/rounding_residual.h"

#include <gtest/gtest.h>

#include "kernels/reference.h"
#include "support/every_target.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

TEST(LackOfRun, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(31);
    for (std::size_t round = 0; round < 150; ++round) {
      const std::size_t n = round < 40 ? round : random.length(2100);
      const WeightsAt x(random.length(7), random.sprinkled(n, {0.0F, -0.0F, 1e-40F, 1e4F}));
      const auto codes = random.bytes(n);
      const Affine affine{0.3F, 1 / 0.3F, static_cast<float>(random.length(8))};
      const CodeSign sign = random.length(1) == 0 ? CodeSign::kSigned : CodeSign::kUnsigned;
      std::vector<float> got(n), want(n);
      const double got_sum = rounding_residuals(x.data(), n, affine, sign, codes.data(), got.data());
      const double want_sum = ref::rounding_residuals(x.data(), n, affine, sign, codes.data(), want.data());
      ASSERT_EQ(got, want);
      ASSERT_EQ(got_sum, want_sum);
    }
  });
}

TEST(FindBeyond, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(32);
    for (std::size_t round = 0; round < 100; ++round) {
      const auto values = random.sprinkled(random.length(300), {0.0F, -0.0F, 10.0F, -10.0F});
      for (const float direction : {1.0F, -1.0F}) {
        for (const float bound : {0.0F, 10.0F, 45.0F}) {
          std::vector<std::uint32_t> got(values.size()), want(values.size());
          got.resize(find_beyond(values.data(), values.size(), direction, bound, got.data()));
          want.resize(ref::find_beyond(values.data(), values.size(), direction, bound, want.data()));
          ASSERT_EQ(got, want);
        }
      }
    }
  });
}

TEST(SumsOfGroups, AreTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(33);
    for (const std::size_t n : {1U, 2U, 3U, 9U, 25U}) {
      for (const std::size_t count : {0U, 1U, 7U, 16U, 33U}) {
        const auto values = random.normal(n * count);
        std::vector<float> got(count), want(count);
        sums_of_groups(values.data(), count, n, got.data());
        ref::sums_of_groups(values.data(), count, n, want.data());
        ASSERT_EQ(got, want);
      }
    }
  });
}

}  // namespace
}  // namespace ounce::kernels
