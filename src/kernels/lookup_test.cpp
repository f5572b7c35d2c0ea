#include "kernels/pack.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

TEST(EncodeNearest, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(18);
    for (std::size_t k = 0; k <= 256; ++k) {
      std::vector<float> boundaries = random.normal(std::max<std::size_t>(k, 1) - 1);
      if (k > 8) boundaries[3] = boundaries[5];  // a codebook padded with a repeated entry
      std::sort(boundaries.begin(), boundaries.end());
      std::vector<float> rare = awkward_floats();
      rare.insert(rare.end(), {kInf, -kInf, kNan});
      rare.insert(rare.end(), boundaries.begin(), boundaries.end());
      const std::size_t n = k % 2 == 0 ? k : random.length(2100);
      const WeightsAt x(random.length(7), random.sprinkled(n, rare));
      std::vector<std::uint8_t> got(n), want(n);
      encode_nearest(x.data(), n, boundaries.data(), k, got.data());
      ref::encode_nearest(x.data(), n, boundaries.data(), k, want.data());
      ASSERT_EQ(got, want) << k << " entries, " << n << " values";
    }
  });
}

TEST(DecodeLookup, GivesTheEntryOfEachCode) {
  const std::vector<float> codebook = {-1.0F, 0.5F, 2.0F};
  const std::vector<std::uint8_t> codes = {2, 0, 1, 1};
  std::vector<float> out(4);
  decode_lookup(codes.data(), codes.size(), codebook.data(), out.data());
  EXPECT_EQ(out, (std::vector<float>{2.0F, -1.0F, 0.5F, 0.5F}));
}

}  // namespace
}  // namespace ounce::kernels
