#include "quantize/observation.h"

#include <gmock/gmock.h>

namespace ounce::quantization {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

// Runs with one output and this noise.
std::vector<std::vector<evaluate::Difference>> noisy(const std::vector<double>& noise) {
  std::vector<std::vector<evaluate::Difference>> runs;
  for (const double of_run : noise) {
    runs.emplace_back(1);
    runs.back()[0].squared = of_run;
    runs.back()[0].reference = 1;
  }
  return runs;
}

TEST(TellingRuns, AreThoseWithTheMostNoiseAndOthers) {
  const auto chosen = informative_samples(noisy({0, 0, 0, 9, 0, 0, 8, 0, 0, 0}), 10, 4, false);
  EXPECT_THAT(chosen, SizeIs(4));
  EXPECT_THAT(chosen, Contains(3U));
  EXPECT_THAT(chosen, Contains(6U));
}

TEST(TellingRuns, AreAllWhenThereAreNoMore) {
  EXPECT_THAT(informative_samples(noisy({1, 2, 3}), 3, 8, false), ElementsAre(0, 1, 2));
}

TEST(TellingRuns, AreEvenlySpacedWhenNothingIsKnown) {
  EXPECT_THAT(informative_samples({}, 8, 4, false), ElementsAre(0, 2, 4, 6));
}

TEST(TellingRuns, AreTheFirstOnesWhereAStateIsCarried) {
  EXPECT_THAT(informative_samples(noisy({0, 0, 0, 9}), 4, 2, true), ElementsAre(0, 1));
}

// The output with the largest relative error decides, not the one with the largest values.
TEST(TellingRuns, AreThoseOfTheWorstOutput) {
  std::vector<std::vector<evaluate::Difference>> runs(6, std::vector<evaluate::Difference>(2));
  for (auto& run : runs) {
    run[0].reference = 1e6;
    run[1].reference = 1;
  }
  runs[1][0].squared = 100;
  runs[4][1].squared = .5;
  EXPECT_THAT(informative_samples(runs, 6, 2, false), Contains(4U));
}

}  // namespace
}  // namespace ounce::quantization
