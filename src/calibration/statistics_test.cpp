#include "calibration/statistics.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>

#include "base/numbers.h"
#include "calibration/ranges.h"
#include "support/error_of.h"

namespace ounce::calibration {
namespace {

using testing::HasSubstr;

std::vector<float> sample(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform() * 8 - 3);
  return values;
}

Ranges ranges_of(const std::vector<std::uint64_t>& seeds) {
  Ranges ranges;
  ranges.model = "m";
  for (const std::uint64_t seed : seeds) {
    ranges.values["a"].add(sample(seed, 600), 3, 2);
    ranges.values["b"].add(sample(seed + 100, 10 + seed));  // shapes may differ from sample to sample
    ++ranges.samples;
  }
  return ranges;
}

TEST(StatisticsTest, MinimumMaximumAndTheirMeansAreExact) {
  Statistics statistics;
  statistics.add(std::vector<float>{1, -2, 3});
  statistics.add(std::vector<float>{5, 0.5F});
  EXPECT_EQ(statistics.samples(), 2U);
  EXPECT_EQ(statistics.count(), 5U);
  EXPECT_EQ(statistics.minimum(), -2);
  EXPECT_EQ(statistics.maximum(), 5);
  EXPECT_EQ(statistics.mean_minimum(), (-2 + 0.5) / 2);
  EXPECT_EQ(statistics.mean_maximum(), 4);
}

TEST(StatisticsTest, ChannelsHaveRangesOfTheirOwnWhileTheirNumberStays) {
  Statistics statistics;
  statistics.add(std::vector<float>{1, 2, 10, 20, 3, 4, 30, 40}, 2, 2);
  ASSERT_EQ(statistics.channels().size(), 2U);
  EXPECT_EQ(statistics.channels()[0].maximum, 4);
  EXPECT_EQ(statistics.channels()[1].minimum, 10);
  statistics.add(std::vector<float>{1, 2, 3}, 3, 1);
  EXPECT_TRUE(statistics.channels().empty());
  EXPECT_EQ(statistics.count(), 11U);
}

TEST(StatisticsTest, ValuesThatAreNotFiniteAreCountedAndLeftOut) {
  Statistics statistics;
  statistics.add(std::vector<float>{1, NAN, INFINITY, -INFINITY, 2});
  statistics.add(std::vector<float>{NAN});
  EXPECT_EQ(statistics.not_finite(), 4U);
  EXPECT_EQ(statistics.count(), 2U);
  EXPECT_EQ(statistics.samples(), 1U);
  EXPECT_EQ(statistics.maximum(), 2);
}

TEST(RangesTest, MergedPartsAreTheSameFileAsOneRun) {
  const std::string whole = to_json(ranges_of({1, 2, 3, 4, 5, 6, 7}));
  Ranges merged;
  merged.add(ranges_of({6, 2}), "part");
  merged.add(ranges_of({7}), "part");
  merged.add(ranges_of({3, 5, 1, 4}), "part");
  EXPECT_EQ(to_json(merged), whole);
}

Ranges part_of(const std::vector<std::uint64_t>& samples, const std::string& data = "data") {
  Coverage coverage(data, 7, 0, 7);
  for (const std::uint64_t number : samples) coverage.add(SampleRun{number, 1, 1});
  Ranges ranges = ranges_of(samples);
  ranges.covers.push_back(coverage);
  return ranges;
}

TEST(RangesTest, PartsRecordWhatTheyCoverAndAddUpToOneRun) {
  const std::string whole = to_json(part_of({0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(to_json(parse_ranges(whole, "x")), whole);
  Ranges merged;
  merged.add(part_of({5, 1}), "part");
  merged.add(part_of({6}), "part");
  merged.add(part_of({2, 4, 0, 3}), "part");
  EXPECT_EQ(to_json(merged), whole);
}

TEST(RangesTest, ASampleCountsOnce) {
  Ranges merged = part_of({0, 2, 4});
  const std::string before = to_json(merged);
  const Error error = test::error_of([&] { merged.add(part_of({3, 4}), "b.ranges"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("b.ranges: covers sample 5 of the same data"));
  EXPECT_EQ(to_json(merged), before);
  merged.add(part_of({3, 4}, "other data"), "c.ranges");
  EXPECT_EQ(merged.samples, 5U);
  EXPECT_EQ(merged.covers.size(), 2U);
}

TEST(RangesTest, BrokenCoverageIsRefused) {
  const std::string text = to_json(part_of({0, 1, 2}));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    return copy.replace(copy.find(from), from.size(), to);
  };
  for (const char* broken : {"[[0,1,8]]", "[[0,0,3]]", "[[0,1,3],[2,1,1]]", "[[0,1]]", "[[-1,1,3]]", "[0]",
                             "7", "[[0,1,18446744073709551615]]"})
    EXPECT_THROW(parse_ranges(changed("[[0,1,3]]", broken), "x"), Error) << broken;
  EXPECT_THROW(parse_ranges(changed("\"size\":7", "\"size\":18446744073709551615"), "x"), Error);
  EXPECT_THROW(parse_ranges(changed("\"covers\":[", "\"covers\":[1,"), "x"), Error);
  EXPECT_THROW(parse_ranges(changed("\"window\":[0,7]", "\"window\":[7,0]"), "x"), Error);
}

TEST(RangesTest, FilesComeBack) {
  const std::string text = to_json(ranges_of({1, 2, 3}));
  EXPECT_EQ(to_json(parse_ranges(text, "x")), text);
}

TEST(RangesTest, PartsOfAnotherModelAreRefused) {
  Ranges merged = ranges_of({1}), other = ranges_of({2});
  other.model = "another";
  EXPECT_THAT(test::error_of([&] { merged.add(other, "b.ranges"); }).what(), HasSubstr("b.ranges"));
}

TEST(RangesTest, BrokenFilesAreRefused) {
  const std::string text = to_json(ranges_of({1}));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7)
    EXPECT_THROW(parse_ranges(text.substr(0, size), "x"), Error) << size;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    return copy.replace(copy.find(from), from.size(), to);
  };
  EXPECT_THROW(parse_ranges(changed("ounce.ranges", "else"), "x"), Error);
  EXPECT_THROW(parse_ranges(changed("\"count\":", "\"count\":1"), "x"), Error);
  EXPECT_THROW(parse_ranges(changed("\"histogram\":[[", "\"histogram\":[[9999999,1],["), "x"), Error);
  EXPECT_THROW(parse_ranges(std::string(100'000, '['), "x"), Error);
  EXPECT_EQ(test::error_of([&] { parse_ranges(changed("\"version\":2", "\"version\":3"), "x"); }).code(),
            ErrorCode::kUnsupported);
  EXPECT_EQ(test::error_of([&] { parse_ranges(changed("\"version\":2", "\"version\":1"), "x"); }).code(),
            ErrorCode::kBadInput);
}

TEST(StatisticsTest, ChannelsHaveMeansThatPartsAddUpTo) {
  Statistics whole, first, second;
  const std::vector<float> a = {1, 2, 10, 20}, b = {3, 6, 30, 0};  // two channels of two values
  whole.add(a, 2, 2);
  whole.add(b, 2, 2);
  first.add(a, 2, 2);
  second.add(b, 2, 2);
  second.add(first);
  EXPECT_DOUBLE_EQ(whole.mean_of_channel(0), 3);
  EXPECT_DOUBLE_EQ(whole.mean_of_channel(1), 15);
  EXPECT_EQ(whole.channels()[1].sum, second.channels()[1].sum);
  EXPECT_EQ(whole.mean_of_channel(2), 0);
}

}  // namespace
}  // namespace ounce::calibration
