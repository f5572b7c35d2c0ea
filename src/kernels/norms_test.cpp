#include "kernels/affine.h"

#include <gtest/gtest.h>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

TEST(ErrorNorms, AreTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(16);
    for (std::size_t round = 0; round < 150; ++round) {
      const std::size_t n = round < 40 ? round : random.length(2100);
      const WeightsAt x(random.length(7), random.sprinkled(n, {0.0F, -0.0F, 1e-40F, 1e15F}));
      const std::vector<float> y = random.normal(n);
      ErrorNorms got{1, 2, 0.5F}, want{1, 2, 0.5F};
      error_norms(x.data(), y.data(), n, got);
      ref::error_norms(x.data(), y.data(), n, want);
      ASSERT_EQ(got.signal, want.signal);
      ASSERT_EQ(got.noise, want.noise);
      ASSERT_EQ(got.max_abs, want.max_abs);
    }
  });
}

TEST(ErrorNorms, MayBeSplitAtBlocks) {
  on_every_target([] {
    RandomWeights random(17);
    const std::size_t n = 2 * kRunBlock + 5;
    const WeightsAt x(1, random.normal(n));
    const std::vector<float> y = random.normal(n);
    ErrorNorms whole, parts;
    error_norms(x.data(), y.data(), n, whole);
    error_norms(x.data(), y.data(), kRunBlock, parts);
    error_norms(x.data() + kRunBlock * sizeof(float), y.data() + kRunBlock, n - kRunBlock, parts);
    EXPECT_EQ(whole.signal, parts.signal);
    EXPECT_EQ(whole.noise, parts.noise);
    EXPECT_EQ(whole.max_abs, parts.max_abs);
  });
}

TEST(ErrorNorms, KeepANanOnceSeen) {
  on_every_target([] {
    ErrorNorms norms, reference;
    const WeightsAt x(0, {1.0F, -kNan, 100.0F});
    const std::vector<float> y = {1.0F, 1.0F, 1.0F};
    for (int i = 0; i < 2; ++i) error_norms(x.data(), y.data(), 3, norms);
    error_norms(x.data(), y.data(), 1, norms);
    ref::error_norms(x.data(), y.data(), 3, reference);
    EXPECT_TRUE(std::isnan(norms.max_abs));
    EXPECT_TRUE(std::isnan(norms.noise));
    EXPECT_TRUE(std::isnan(reference.max_abs));
  });
}

TEST(ErrorNorms, GiveTheRatioInDecibel) {
  EXPECT_EQ((ErrorNorms{1, 0, 0}).sqnr_db(), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ((ErrorNorms{1000, 1, 0}).sqnr_db(), 30.0);
}

}  // namespace
}  // namespace ounce::kernels
