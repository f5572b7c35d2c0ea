#include "search/tune/recorded_reference.h"

#include <gmock/gmock.h>

#include <cstring>

#include "evaluate/models/open.h"
#include "support/error_of.h"
#include "support/npy_bytes.h"
#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

using ounce::test::error_of;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using testing::ElementsAre;

// Feeds samples 0, 1, 2 … to a model that adds them up.
struct SplitTest : testing::Test {
  SplitTest() {
    ModelBuilder builder;
    builder.input("x", kFloat, {1, 1}).input("state", kFloat, {1, 1});
    builder.output("y", kFloat, {1, 1}).output("next", kFloat, {1, 1});
    builder.node("Add", {"x", "state"}, {"next"}).node("Identity", {"next"}, {"y"});
    ounce::test::write_file(model, builder.bytes());
    data.constants["state"] = 0;
    give(10);
  }
  // Writes this number of samples: 0, 1, 2, …
  void give(std::size_t samples) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < samples; ++i) numbers.push_back(static_cast<float>(i));
    ounce::test::write_file(folder / "x.npy", test::npy_bytes(samples, 1, numbers));
    data.path = folder / "x.npy";
  }
  Split split() const { return split_data(model, {}, data); }

  // The numbers in a part.
  std::vector<float> numbers_of(const DataOptions& part) const {
    const auto loaded = evaluate::load_as_floats(model, evaluate::executor_options({}));
    const evaluate::OpenFeed open = evaluate::open_feed(model, loaded->inputs(), part);
    std::vector<float> numbers;
    data::Batch batch;
    for (std::uint64_t i = 0; i < open.feed->batches(); ++i) {
      open.feed->read(i, batch);
      float number = -1;
      std::memcpy(&number, batch.inputs.at(0).bytes.data(), sizeof number);
      numbers.push_back(number);
    }
    return numbers;
  }

  ounce::test::TemporaryFolder folder;
  std::filesystem::path model = folder / "model.onnx";
  DataOptions data;
};

TEST_F(SplitTest, EveryOtherSampleIsHeldOut) {
  const Split parts = split();
  EXPECT_FALSE(parts.is_same);
  EXPECT_THAT(numbers_of(parts.search.data), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(numbers_of(parts.held_out.data), ElementsAre(1, 3, 5, 7, 9));
  EXPECT_EQ(parts.search.samples, 5U);
  EXPECT_EQ(parts.held_out.samples, 5U);
}

TEST_F(SplitTest, TheOddOneIsForSearching) {
  give(7);
  const Split parts = split();
  EXPECT_EQ(numbers_of(parts.search.data).size(), parts.search.samples);
  EXPECT_EQ(numbers_of(parts.held_out.data).size(), parts.held_out.samples);
  EXPECT_EQ(parts.search.samples, 4U);
  EXPECT_EQ(parts.held_out.samples, 3U);
}

TEST_F(SplitTest, OnlySamplesThatWereAskedForAreCut) {
  data.first = 2;
  data.samples = 5;
  const Split parts = split();
  EXPECT_THAT(numbers_of(parts.search.data), ElementsAre(2, 4, 6));
  EXPECT_THAT(numbers_of(parts.held_out.data), ElementsAre(3, 5));
}

TEST_F(SplitTest, APartIsCutOnceMore) {
  data.part = 1;
  data.parts = 2;  // 1 3 5 7 9
  const Split parts = split();
  EXPECT_THAT(numbers_of(parts.search.data), ElementsAre(1, 5, 9));
  EXPECT_THAT(numbers_of(parts.held_out.data), ElementsAre(3, 7));
}

TEST_F(SplitTest, ASequenceIsCutInTheMiddle) {
  data.constants.clear();
  data.carry["state"] = "next";
  data.first = 1;
  const Split parts = split();
  EXPECT_THAT(numbers_of(parts.search.data), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_of(parts.held_out.data), ElementsAre(6, 7, 8, 9));
}

TEST_F(SplitTest, FewerThanFourSamplesAreNotCut) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    give(count);
    const Split parts = split();
    EXPECT_TRUE(parts.is_same);
    EXPECT_EQ(parts.search.samples, count);
    EXPECT_EQ(parts.held_out.samples, count);
    EXPECT_EQ(numbers_of(parts.search.data), numbers_of(parts.held_out.data));
  }
  give(4);
  EXPECT_FALSE(split().is_same);
}

TEST_F(SplitTest, DataThatIsNotThereIsRefused) {
  data.path = folder / "nowhere.npy";
  EXPECT_EQ(error_of([&] { split(); }).code(), ErrorCode::kIo);
  give(3);
  data.first = 3;
  EXPECT_EQ(error_of([&] { split(); }).code(), ErrorCode::kBadInput);
}

// The samples that `chosen` selects: every parts-th one, as in data_feed.h.
std::vector<std::uint64_t> numbers(const DataOptions& chosen, std::uint64_t all) {
  std::vector<std::uint64_t> found;
  const std::uint64_t end = chosen.samples == 0 ? all : chosen.first + chosen.samples;
  for (std::uint64_t i = chosen.first + chosen.part; i < end; i += chosen.parts) found.push_back(i);
  return found;
}

TEST(DataPartTest, BothSplitsGoThroughAllOfTheDataAndHaveNothingInCommon) {
  for (const std::uint64_t all : {2U, 3U, 24U, 101U, 1000U}) {
    for (const std::uint64_t most : {1U, 2U, 7U, 64U, 5000U}) {
      const DataOptions data;
      const DataPart fit = fit_split(data, all, most), judge = judge_split(data, all, most);
      const auto a = numbers(fit.data, all), b = numbers(judge.data, all);
      EXPECT_EQ(a.size(), fit.samples);
      EXPECT_EQ(b.size(), judge.samples);
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

TEST(DataPartTest, AStateGoesThroughOneSplitAndThenTheOther) {
  DataOptions data;
  data.carry = {{"state", "state_out"}};
  data.first = 10;
  const DataPart fit = fit_split(data, 9, 100), judge = judge_split(data, 9, 100);
  EXPECT_EQ(fit.samples, 5U);
  EXPECT_EQ(judge.samples, 4U);
  EXPECT_EQ(fit.data.first, 10U);
  EXPECT_EQ(fit.data.samples, 5U);
  EXPECT_EQ(judge.data.first, 15U);
  EXPECT_EQ(judge.data.samples, 4U);
}

TEST(DataPartTest, ASingleSampleIsInBothSplits) {
  for (const DataPart& part : {fit_split({}, 1, 8), judge_split({}, 1, 8)}) {
    EXPECT_EQ(part.samples, 1U);
    EXPECT_EQ(part.data.parts, 1U);
  }
}

TEST(DataPartTest, AllOfTheDataIsThinnedEvenly) {
  for (const std::uint64_t all : {1U, 2U, 24U, 101U, 1000U}) {
    for (const std::uint64_t most : {1U, 7U, 64U, 5000U}) {
      const DataPart part = evenly_spaced({}, all, most);
      EXPECT_EQ(numbers(part.data, all).size(), part.samples);
      EXPECT_LE(part.samples, most);
      EXPECT_GE(2 * part.samples, std::min(all, most));
      EXPECT_TRUE(most < all || part.samples == all);
    }
  }
  DataOptions sequence;
  sequence.carry["state"] = "state_out";
  const DataPart part = evenly_spaced(sequence, 100, 30);
  EXPECT_EQ(part.samples, 30U);
  EXPECT_EQ(part.data.samples, 30U);
  EXPECT_EQ(part.data.parts, 1U);
}

}  // namespace
}  // namespace ounce::search
