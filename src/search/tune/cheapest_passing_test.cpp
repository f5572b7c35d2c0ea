#include "search/tune/repair.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ounce::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::UnorderedElementsAre;

// Options whose noises add up, and a limit for the noise of the rest.
struct CheapestPassingTest : testing::Test {
  double noise_without(const Indices& chosen) const {
    double noise = 0;
    for (const Option& option : options) noise += option.noise;
    for (const std::size_t i : chosen) noise -= options[i].noise;
    return noise;
  }
  PassingTest ask() {
    return {[this](const Indices& chosen) {
              ++asked;
              return noise_without(chosen) <= limit;
            },
            [this] { return asked < most; }};
  }
  std::optional<Indices> find() {
    const PassingTest questions = ask();
    std::optional<Indices> found = cheapest_passing(options, noise_without({}), limit, questions);
    if (!found) return found;
    std::stable_sort(found->begin(), found->end(),
                     [this](std::size_t a, std::size_t b) { return options[a].cost < options[b].cost; });
    return drop_unneeded(*found, questions);
  }
  std::vector<Option> options;
  double limit = 1;
  int asked = 0, most = 1000;
};

TEST_F(CheapestPassingTest, OneThatBringsNearlyEverythingIsLeftOutAlone) {
  options = {{0.1, 1}, {50, 1}, {0.1, 1}, {0.1, 1}};
  EXPECT_THAT(find(), Optional(ElementsAre(1)));
  EXPECT_EQ(asked, 1);  // as expected
}

TEST_F(CheapestPassingTest, WhatBringsTheMostForItsCostComesFirst) {
  options = {{10, 100}, {9, 1}, {0.5, 1}};
  limit = 11;
  EXPECT_THAT(find(), Optional(ElementsAre(1)));
}

TEST_F(CheapestPassingTest, WhatIsNotNeededGoesBack) {
  options = {{1, 1},
             {1, 1.01},
             {1, 1.02},
             {60, 100}};  // the last option has the least noise per cost, and alone is enough
  limit = 5;
  EXPECT_THAT(find(), Optional(ElementsAre(3)));
}

TEST_F(CheapestPassingTest, MoreIsLeftOutWhereExpectationsMiss) {
  // Two options affect the same value: one alone changes nothing, both are needed.
  options = {{10, 1}, {10, 1}, {1, 1}, {1, 1}, {1, 1}};
  int tries = 0;
  const PassingTest questions{[&](const Indices& chosen) {
    ++tries;
    return std::count_if(chosen.begin(), chosen.end(), [](std::size_t i) { return i < 2; }) == 2;
  }};
  EXPECT_THAT(cheapest_passing(options, 14, 13, questions), Optional(UnorderedElementsAre(0, 1)));
  EXPECT_LE(tries, 3);
}

TEST_F(CheapestPassingTest, NothingWhenNothingPasses) {
  options = {{1, 1}, {1, 1}};
  limit = -1;
  EXPECT_EQ(find(), std::nullopt);
  options = {};
  EXPECT_EQ(find(), std::nullopt);
}

TEST_F(CheapestPassingTest, AsFewQuestionsAsALogarithmOfThePieces) {
  for (int i = 0; i < 1000; ++i) options.push_back({1, 1});
  limit = 600;
  const auto found = cheapest_passing(options, 5000, limit, ask());  // the total exceeds the sum
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 400U);
  EXPECT_LE(asked, 12);
}

TEST_F(CheapestPassingTest, WhoMayNotGoOnKeepsWhatPasses) {
  for (int i = 0; i < 64; ++i) options.push_back({1, 1});
  limit = 40;
  for (most = 0; most < 20; ++most) {
    asked = 0;
    const auto found = find();
    EXPECT_LE(asked, most);
    if (found) {
      EXPECT_LE(noise_without(*found), limit);
    }
  }
}

TEST_F(CheapestPassingTest, NoiseThatIsNoNumberIsMoreThanAnyOther) {
  options = {{1, 1}, {std::numeric_limits<double>::infinity(), 1}, {std::nan(""), 1}};
  EXPECT_EQ(expected_count(options, std::numeric_limits<double>::infinity(), 0.5), 2U);
}

}  // namespace
}  // namespace ounce::search
