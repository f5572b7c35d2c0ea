#include "data/source/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "data/source/data_feed.h"
#include "support/error_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<float, 6> kSix = {0, 1, 2, 3, 4, 5};
constexpr std::array<std::int64_t, 3> kLabels = {7, 8, 9};

ArrayView six(std::vector<std::int64_t> shape) { return {"x", "float32", std::move(shape), kSix.data()}; }
ArrayView labels() { return {"y", "int64", {3}, kLabels.data()}; }

std::shared_ptr<const MemoryData> arrays(std::vector<ArrayView> views) {
  return std::make_shared<MemoryData>(MemoryData{.arrays = std::move(views)});
}

std::shared_ptr<const MemoryData> samples(std::vector<std::vector<ArrayView>> views, bool has_batch_axis) {
  return std::make_shared<MemoryData>(
      MemoryData{.samples = std::move(views), .has_batch_axis = has_batch_axis});
}

std::vector<float> floats_in(const Sample& sample, const char* field) {
  const auto values = values_of<float>(*sample.find(field));
  return {values.begin(), values.end()};
}

TEST(MemorySource, TheFirstAxisCountsSamples) {
  MemorySource source(arrays({six({3, 2}), labels()}));
  EXPECT_EQ(source.size(), 3U);
  EXPECT_EQ(source.fields()[0].dims, Dims{2});
  const Sample sample = source.read(1);
  EXPECT_EQ(sample.name, "data[1]");
  EXPECT_THAT(floats_in(sample, "x"), ElementsAre(2, 3));
  EXPECT_THAT(values_of<std::int64_t>(*sample.find("y")), ElementsAre(8));
}

TEST(MemorySource, AnArrayWithoutAxesIsTheSameForAll) {
  MemorySource source(arrays({labels(), six({})}));
  EXPECT_EQ(source.size(), 3U);
  EXPECT_THAT(floats_in(source.read(2), "x"), ElementsAre(0));
}

TEST(MemorySource, SamplesMayDifferInShape) {
  MemorySource source(samples({{six({1, 2})}, {six({1, 5})}}, true));
  EXPECT_EQ(source.size(), 2U);
  EXPECT_TRUE(source.has_batch_axis());
  EXPECT_EQ(source.fields()[0].dims, std::nullopt);
  EXPECT_EQ(source.read(1).find("x")->dims, (Dims{1, 5}));
}

TEST(MemorySource, FeedsAModelLikeAFile) {
  ValueDescription input;
  input.name = "x";
  input.element = ElementType::kFloat;
  input.shape = {{-1, "batch"}, {2, ""}};
  DataOptions options;
  options.memory = arrays({six({3, 2}), labels()});
  options.labels = "y";
  options.batch = 2;
  DataFeed feed({input}, options);
  EXPECT_EQ(feed.samples(), 3U);
  Batch batch;
  feed.read(0, batch);
  EXPECT_EQ(batch.inputs[0].dims, (Dims{2, 2}));
  EXPECT_EQ(batch.labels.size(), 2U);
  options.labels = "z";
  EXPECT_STREQ(error_of([&] { DataFeed({input}, options); }).what(),
               "the data in memory: has no array or column named 'z' for `labels` (it has x, y)");
}

TEST(MemorySource, RefusesWhatIsNoData) {
  const auto refusal = [](std::shared_ptr<const MemoryData> data) {
    return std::string(error_of([&] { MemorySource source(data); }).what());
  };
  EXPECT_THAT(refusal(arrays({six({2, 3}), labels()})), HasSubstr("'y' has 3 samples, but 'x' has 2"));
  EXPECT_THAT(refusal(arrays({{"x", "complex64", {1}, kSix.data()}})), HasSubstr("the type 'complex64'"));
  EXPECT_THAT(refusal(arrays({{"x", "float32", {1}, nullptr}})), HasSubstr("'x' has no values"));
  EXPECT_THAT(refusal(arrays({six({-1})})), HasSubstr("'x'"));
  EXPECT_THAT(refusal(samples({{six({1})}, {labels()}}, false)), HasSubstr("'y' is not in the first sample"));
}

TEST(MemorySource, ItsDescriptionTellsValuesApart) {
  std::array<float, 6> others = kSix;
  others[5] = 6;
  const MemoryData one{.arrays = {six({3, 2})}};
  const MemoryData same{.arrays = {six({3, 2})}};
  const MemoryData other{.arrays = {{"x", "float32", {3, 2}, others.data()}}};
  EXPECT_EQ(description_of(one), description_of(same));
  EXPECT_NE(description_of(one), description_of(other));
}

}  // namespace
}  // namespace ounce::data
