#include "kernels/panel_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/every_target.h"
#include "support/kernel_reference.h"
#include "support/weights_at.h"

namespace ounce::kernels {
namespace {

TEST(PanelSearch, IsTheReferenceOnEveryTarget) {
  on_every_target([] {
    RandomWeights random(11);
    for (int round = 0; round < 60; ++round) {
      const std::size_t n = 1 + random.length(70), count = 1 + random.length(7);
      std::vector<float> x = random.normal(n * kPanelBlocks), h = random.normal(n);
      for (float& value : h) value *= value;
      for (std::size_t i = 0; i < n; ++i) x[i * kPanelBlocks + 3] = round % 3 == 0 ? 0 : 1e37F;
      std::vector<PanelCandidate> candidates(count);
      for (PanelCandidate& candidate : candidates) {
        const std::vector<float> inverses = random.normal(kPanelBlocks);
        for (std::size_t b = 0; b < kPanelBlocks; ++b) {
          candidate.inverse[b] = inverses[b] / 100;
          candidate.lo[b] = -static_cast<float>(random.length(8));
          candidate.hi[b] = candidate.lo[b] + 15;
        }
      }
      PanelBest got{}, want{};
      const float* weights = round % 2 == 0 ? nullptr : h.data();
      improve_panel(x.data(), weights, n, candidates.data(), count, got);
      ref::improve_panel(x.data(), weights, n, candidates.data(), count, want);
      EXPECT_TRUE(std::equal(got.scale, got.scale + kPanelBlocks, want.scale));
      EXPECT_TRUE(std::equal(got.gain, got.gain + kPanelBlocks, want.gain));
      EXPECT_TRUE(std::equal(got.lo, got.lo + kPanelBlocks, want.lo));
    }
  });
}

TEST(PanelSearch, BytesAreTurnedOnEveryTarget) {
  on_every_target([] {
    std::vector<std::uint8_t> from(16 * 20), to(16 * 18, 255);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * 7);
    turn_bytes(from.data(), 20, to.data(), 18);
    for (std::size_t r = 0; r < 16; ++r) {
      for (std::size_t c = 0; c < 18; ++c) EXPECT_EQ(to[r * 18 + c], c < 16 ? from[c * 20 + r] : 255);
    }
  });
}

}  // namespace
}  // namespace ounce::kernels
