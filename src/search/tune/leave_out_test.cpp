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

// Pieces whose noises add up, and a limit for what is left.
struct LeaveOutTest : testing::Test {
  double noise_without(const Pieces& left_out) const {
    double noise = 0;
    for (const Piece& piece : pieces) noise += piece.noise;
    for (const std::size_t i : left_out) noise -= pieces[i].noise;
    return noise;
  }
  LeaveOutQuestions ask() {
    return {[this](const Pieces& left_out) {
              ++asked;
              return noise_without(left_out) <= limit;
            },
            [this] { return asked < most; }};
  }
  std::optional<Pieces> find() {
    const LeaveOutQuestions questions = ask();
    std::optional<Pieces> found = shortest_passing(pieces, noise_without({}), limit, questions);
    if (!found) return found;
    std::stable_sort(found->begin(), found->end(),
                     [this](std::size_t a, std::size_t b) { return pieces[a].cost < pieces[b].cost; });
    return without_the_needless(*found, questions);
  }
  std::vector<Piece> pieces;
  double limit = 1;
  int asked = 0, most = 1000;
};

TEST_F(LeaveOutTest, OneThatBringsNearlyEverythingIsLeftOutAlone) {
  pieces = {{0.1, 1}, {50, 1}, {0.1, 1}, {0.1, 1}};
  EXPECT_THAT(find(), Optional(ElementsAre(1)));
  EXPECT_EQ(asked, 1);  // as expected
}

TEST_F(LeaveOutTest, WhatBringsTheMostForItsCostComesFirst) {
  pieces = {{10, 100}, {9, 1}, {0.5, 1}};
  limit = 11;
  EXPECT_THAT(find(), Optional(ElementsAre(1)));
}

TEST_F(LeaveOutTest, WhatIsNotNeededGoesBack) {
  pieces = {{1, 1},
            {1, 1.01},
            {1, 1.02},
            {60, 100}};  // the last one has the least worth, and is all that is needed
  limit = 5;
  EXPECT_THAT(find(), Optional(ElementsAre(3)));
}

TEST_F(LeaveOutTest, MoreIsLeftOutWhereExpectationsMiss) {
  // Two spoil the same value: one alone brings nothing, and both are needed.
  pieces = {{10, 1}, {10, 1}, {1, 1}, {1, 1}, {1, 1}};
  int tries = 0;
  const LeaveOutQuestions questions{[&](const Pieces& left_out) {
    ++tries;
    return std::count_if(left_out.begin(), left_out.end(), [](std::size_t i) { return i < 2; }) == 2;
  }};
  EXPECT_THAT(shortest_passing(pieces, 14, 13, questions), Optional(UnorderedElementsAre(0, 1)));
  EXPECT_LE(tries, 3);
}

TEST_F(LeaveOutTest, NothingWhenNothingPasses) {
  pieces = {{1, 1}, {1, 1}};
  limit = -1;
  EXPECT_EQ(find(), std::nullopt);
  pieces = {};
  EXPECT_EQ(find(), std::nullopt);
}

TEST_F(LeaveOutTest, AsFewQuestionsAsALogarithmOfThePieces) {
  for (int i = 0; i < 1000; ++i) pieces.push_back({1, 1});
  limit = 600;
  const auto found = shortest_passing(pieces, 5000, limit, ask());  // all is said to be far more
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 400U);
  EXPECT_LE(asked, 12);
}

TEST_F(LeaveOutTest, WhoMayNotGoOnKeepsWhatPasses) {
  for (int i = 0; i < 64; ++i) pieces.push_back({1, 1});
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

TEST_F(LeaveOutTest, NoiseThatIsNoNumberIsMoreThanAnyOther) {
  pieces = {{1, 1}, {std::numeric_limits<double>::infinity(), 1}, {std::nan(""), 1}};
  EXPECT_EQ(expected_count(pieces, std::numeric_limits<double>::infinity(), 0.5), 2U);
}

}  // namespace
}  // namespace ounce::search
