#include "search/tune/split.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace ounce::search {
namespace {

// The samples that `chosen` means: every parts-th one, as data_feed.h takes them.
std::vector<std::uint64_t> numbers(const DataOptions& chosen, std::uint64_t all) {
  std::vector<std::uint64_t> found;
  const std::uint64_t end = chosen.samples == 0 ? all : chosen.first + chosen.samples;
  for (std::uint64_t i = chosen.first + chosen.part; i < end; i += chosen.parts) found.push_back(i);
  return found;
}

TEST(HalfTest, BothHalvesGoThroughAllOfTheDataAndHaveNothingInCommon) {
  for (const std::uint64_t all : {2U, 3U, 24U, 101U, 1000U}) {
    for (const std::uint64_t most : {1U, 2U, 7U, 64U, 5000U}) {
      const DataOptions data;
      DataOptions first, second;
      const std::uint64_t calibrating = Half{data, all, false}.choose(most, first);
      const std::uint64_t judging = Half{data, all, true}.choose(most, second);
      const auto a = numbers(first, all), b = numbers(second, all);
      EXPECT_EQ(a.size(), calibrating);
      EXPECT_EQ(b.size(), judging);
      EXPECT_LE(a.size(), most);
      EXPECT_LE(b.size(), most);
      std::set<std::uint64_t> both(a.begin(), a.end());
      both.insert(b.begin(), b.end());
      EXPECT_EQ(both.size(), a.size() + b.size());
      if (most >= 7 && all >= 101) {
        EXPECT_GT(a.back(), all * 3 / 4);  // the end of it too
        EXPECT_GT(b.back(), all * 3 / 4);
      }
      if (most >= all) {
        EXPECT_EQ(both.size(), all);
      }
    }
  }
}

TEST(HalfTest, AStateGoesThroughOneHalfAndThenTheOther) {
  DataOptions data, first, second;
  data.carry = {{"state", "state_out"}};
  data.first = 10;
  EXPECT_EQ((Half{data, 9, false}.choose(100, first)), 4U);
  EXPECT_EQ((Half{data, 9, true}.choose(100, second)), 5U);
  EXPECT_EQ(first.first, 10U);
  EXPECT_EQ(first.samples, 4U);
  EXPECT_EQ(second.first, 14U);
  EXPECT_EQ(second.samples, 5U);
}

TEST(HalfTest, ASingleSampleIsBothHalves) {
  DataOptions data, chosen;
  EXPECT_EQ((Half{data, 1, false}.choose(8, chosen)), 1U);
  EXPECT_EQ((Half{data, 1, true}.choose(8, chosen)), 1U);
  EXPECT_EQ(chosen.parts, 1U);
}

TEST(HalfTest, AllOfTheDataIsThinnedEvenly) {
  for (const std::uint64_t all : {1U, 2U, 24U, 101U, 1000U}) {
    for (const std::uint64_t most : {1U, 7U, 64U, 5000U}) {
      DataOptions chosen;
      const std::uint64_t count = choose_evenly({}, all, most, chosen);
      const auto found = numbers(chosen, all);
      EXPECT_EQ(found.size(), count);
      EXPECT_LE(count, most);
      EXPECT_GE(2 * count, std::min(all, most));
      EXPECT_TRUE(most < all || count == all);
    }
  }
  DataOptions sequence, chosen;
  sequence.carry["state"] = "state_out";
  EXPECT_EQ(choose_evenly(sequence, 100, 30, chosen), 30U);
  EXPECT_EQ(chosen.samples, 30U);
  EXPECT_EQ(chosen.parts, 1U);
}

}  // namespace
}  // namespace ounce::search
