#include "quantize/float_choice.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace ounce::quantization {
namespace {

// Pieces with additive noise. Counts the measurements.
struct Pieces {
  std::vector<double> noises;
  std::size_t asked = 0, most = 1000;

  std::vector<double> found(double harmless) {
    const auto sum = [this](std::size_t first, std::size_t count) {
      const auto begin = noises.begin() + static_cast<std::ptrdiff_t>(first);
      return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0);
    };
    return bisect_noise(noises.size(), sum(0, noises.size()), harmless,
                        {[&](std::size_t first, std::size_t count) {
                           ++asked;
                           return sum(first, count);
                         },
                         [this] { return asked < most; }});
  }
};

TEST(NoiseByHalves, NothingIsAskedOfWhatIsHarmless) {
  Pieces pieces{std::vector<double>(64, 1e-6)};
  EXPECT_NEAR(pieces.found(1e-3)[17], 1e-6, 1e-9);
  EXPECT_EQ(pieces.asked, 0U);
}

TEST(NoiseByHalves, OneBadPieceAmongManyIsFoundWithFewQuestions) {
  Pieces pieces{std::vector<double>(64, 1e-7)};
  pieces.noises[37] = 0.5;
  const std::vector<double> found = pieces.found(1e-3);
  EXPECT_EQ(std::max_element(found.begin(), found.end()) - found.begin(), 37);
  EXPECT_NEAR(found[37], 0.5, 1e-6);
  EXPECT_LE(pieces.asked, 12U);  // two for each halving
}

TEST(NoiseByHalves, PiecesThatDestroyEverythingAreTwo) {
  Pieces pieces{std::vector<double>(16, 1e-7)};
  pieces.noises[2] = pieces.noises[13] = std::numeric_limits<double>::infinity();
  const std::vector<double> found = pieces.found(1e-3);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(std::isinf(found[i]), i == 2 || i == 13) << i;
}

TEST(NoiseByHalves, WithoutTimeWhatIsKnownIsSharedOut) {
  Pieces pieces{{0.1, 0.1, 0.1, 0.5}};
  pieces.most = 0;
  for (const double noise : pieces.found(1e-3)) EXPECT_NEAR(noise, 0.2, 1e-9);
  pieces.most = 1;
  const std::vector<double> found = pieces.found(1e-3);
  EXPECT_NEAR(found[0], 0.1, 1e-9);
  EXPECT_NEAR(found[3], 0.3, 1e-9);  // derived from the left half's noise
  EXPECT_EQ(pieces.asked, 1U);
}

TEST(NoiseByHalves, NoPiecesNoQuestions) {
  Pieces pieces;
  EXPECT_TRUE(pieces.found(1).empty());
}

}  // namespace
}  // namespace ounce::quantization
