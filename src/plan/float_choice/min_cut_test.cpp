#include "plan/float_choice/min_cut.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

namespace ounce::plan {
namespace {

TEST(MinCut, EachVertexIsWhereItCostsLeast) {
  MinCut cut(2);
  cut.set_cost(0, 2, 5);
  cut.set_cost(1, 3, 1);
  ASSERT_TRUE(cut.solve());
  EXPECT_TRUE(cut.is_first(0));
  EXPECT_FALSE(cut.is_first(1));
  EXPECT_EQ(cut.cost(), 3);
}

TEST(MinCut, AnEdgeBetweenThePartsCosts) {
  MinCut cut(2);
  cut.set_cost(0, 2, 5);
  cut.set_cost(1, 3, 1);
  cut.set_edge(0, 1, 4);
  ASSERT_TRUE(cut.solve());
  EXPECT_TRUE(cut.is_first(0));
  EXPECT_TRUE(cut.is_first(1));
  EXPECT_EQ(cut.cost(), 5);
}

TEST(MinCut, OfEqualsTheFirstPartIsTheLarger) {
  MinCut cut(1);
  cut.set_cost(0, 4, 4);
  ASSERT_TRUE(cut.solve());
  EXPECT_TRUE(cut.is_first(0));
}

TEST(MinCut, AsLongAsAModelWithoutEnd) {
  constexpr std::size_t kLong = 200'000;
  MinCut cut(kLong);
  cut.set_cost(0, 0, 7);
  cut.set_cost(kLong - 1, 7, 0);
  for (std::size_t i = 1; i < kLong; ++i) cut.set_edge(i - 1, i, 5);
  ASSERT_TRUE(cut.solve());
  EXPECT_EQ(cut.cost(), 5);
}

// Compares with all divisions of a few vertices.
void expect_least() {
  const auto vertices = *rc::gen::inRange<std::size_t>(1, 7);
  struct Part {
    std::size_t first, second;
    int price;
  };
  std::vector<std::pair<int, int>> prices(vertices);
  for (auto& [first, second] : prices) {
    first = *rc::gen::inRange(0, 20);
    second = *rc::gen::inRange(0, 20);
  }
  std::vector<Part> parts(*rc::gen::inRange<std::size_t>(0, 10));
  for (Part& part : parts)
    part = {*rc::gen::inRange<std::size_t>(0, vertices), *rc::gen::inRange<std::size_t>(0, vertices),
            *rc::gen::inRange(0, 20)};
  const auto cost_of = [&](auto is_first) {
    std::int64_t cost = 0;
    for (std::size_t i = 0; i < vertices; ++i) cost += is_first(i) ? prices[i].first : prices[i].second;
    for (const Part& part : parts) cost += is_first(part.first) && !is_first(part.second) ? part.price : 0;
    return cost;
  };
  MinCut cut(vertices);
  for (std::size_t i = 0; i < vertices; ++i) cut.set_cost(i, prices[i].first, prices[i].second);
  for (const Part& part : parts) cut.set_edge(part.first, part.second, part.price);
  RC_ASSERT(cut.solve());
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t division = 0; division < (std::size_t{1} << vertices); ++division)
    least = std::min(least, cost_of([&](std::size_t i) { return (division >> i & 1U) != 0; }));
  RC_ASSERT(cut.cost() == least);
  RC_ASSERT(cost_of([&](std::size_t i) { return cut.is_first(i); }) == least);
}

TEST(MinCut, NoDivisionCostsLess) { EXPECT_TRUE(rc::check(expect_least)); }

}  // namespace
}  // namespace ounce::plan
