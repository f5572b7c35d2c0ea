#include "search/tune/split.h"

#include <gmock/gmock.h>

#include <cstring>

#include "evaluate/models/float_ports.h"
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
  // So many samples: 0, 1, 2 …
  void give(std::size_t samples) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < samples; ++i) numbers.push_back(static_cast<float>(i));
    ounce::test::write_file(folder / "x.npy", test::npy_bytes(samples, 1, numbers));
    data.path = folder / "x.npy";
  }
  Split split() const { return split_data(model, {}, data); }

  // The numbers that a part holds.
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
  EXPECT_THAT(numbers_of(parts.search), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(numbers_of(parts.held_out), ElementsAre(1, 3, 5, 7, 9));
  EXPECT_EQ(parts.search_samples, 5U);
  EXPECT_EQ(parts.held_out_samples, 5U);
}

TEST_F(SplitTest, TheOddOneIsForSearching) {
  give(7);
  const Split parts = split();
  EXPECT_EQ(numbers_of(parts.search).size(), parts.search_samples);
  EXPECT_EQ(numbers_of(parts.held_out).size(), parts.held_out_samples);
  EXPECT_EQ(parts.search_samples, 4U);
  EXPECT_EQ(parts.held_out_samples, 3U);
}

TEST_F(SplitTest, OnlySamplesThatWereAskedForAreCut) {
  data.first = 2;
  data.samples = 5;
  const Split parts = split();
  EXPECT_THAT(numbers_of(parts.search), ElementsAre(2, 4, 6));
  EXPECT_THAT(numbers_of(parts.held_out), ElementsAre(3, 5));
}

TEST_F(SplitTest, APartIsCutOnceMore) {
  data.part = 1;
  data.parts = 2;  // 1 3 5 7 9
  const Split parts = split();
  EXPECT_THAT(numbers_of(parts.search), ElementsAre(1, 5, 9));
  EXPECT_THAT(numbers_of(parts.held_out), ElementsAre(3, 7));
}

TEST_F(SplitTest, ASequenceIsCutInTheMiddle) {
  data.constants.clear();
  data.carry["state"] = "next";
  data.first = 1;
  const Split parts = split();
  EXPECT_THAT(numbers_of(parts.search), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_of(parts.held_out), ElementsAre(6, 7, 8, 9));
}

TEST_F(SplitTest, FewerThanFourSamplesAreNotCut) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    give(count);
    const Split parts = split();
    EXPECT_TRUE(parts.is_same);
    EXPECT_EQ(parts.search_samples, count);
    EXPECT_EQ(parts.held_out_samples, count);
    EXPECT_EQ(numbers_of(parts.search), numbers_of(parts.held_out));
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

}  // namespace
}  // namespace ounce::search
