#include "data/contract/preprocess.h"

#include <gmock/gmock.h>

#include "support/tensor_of.h"

namespace ounce::data {
namespace {

void add(ObservedRange& range, const Dims& dims, const std::vector<float>& values,
         const InputContract& contract = {}) {
  range.add(values, dims, contract);
}

using test::tensor_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Observed = InputContract::Observed;

TEST(ObservedRangeTest, OneChannelForWhatIsNoImage) {
  ObservedRange range;
  EXPECT_TRUE(range.is_empty());
  add(range, {2, 2}, {1, 2, 3, 4});
  add(range, {2}, {-5, 1});
  const Observed seen = range.result();
  EXPECT_EQ(seen.samples, 2U);
  EXPECT_EQ(seen.minimum, -5);
  EXPECT_EQ(seen.maximum, 4);
  EXPECT_THAT(seen.mean, ElementsAre(1));
  ASSERT_EQ(seen.deviation.size(), 1U);
  EXPECT_NEAR(seen.deviation[0], std::sqrt(50. / 6), 1e-12);
}

TEST(ObservedRangeTest, ChannelsOfImagesInBothLayouts) {
  InputContract contract;
  contract.kind = InputKind::kImage;
  ObservedRange planar, packed;
  add(planar, {3, 1, 2}, {1, 3, 10, 30, 5, 5}, contract);
  contract.layout = ImageLayout::kNhwc;
  add(packed, {1, 2, 3}, {1, 10, 5, 3, 30, 5}, contract);
  for (const ObservedRange* range : {&planar, &packed}) {
    EXPECT_THAT(range->result().mean, ElementsAre(2, 20, 5));
    EXPECT_THAT(range->result().deviation, ElementsAre(1, 10, 0));
  }
}

TEST(ObservedRangeTest, PicturesThatTheAppPreparedHaveChannels) {
  ObservedRange planar, packed;
  add(planar, {3, 1, 2}, {1, 3, 10, 30, 5, 5});
  add(packed, {1, 2, 3}, {1, 10, 5, 3, 30, 5});
  for (const ObservedRange* range : {&planar, &packed})
    EXPECT_THAT(range->result().mean, ElementsAre(2, 20, 5));
}

TEST(ObservedRangeTest, WithoutValuesNothingIsSeen) {
  ObservedRange range;
  add(range, {0}, {});
  EXPECT_TRUE(range.is_empty());
  EXPECT_THAT(range.result().mean, IsEmpty());
}

std::optional<std::string> contradiction(const Observed& recorded, const Observed& seen) {
  InputContract contract;
  contract.observed = recorded;
  return data::contradiction(contract, seen);
}

Observed range(double minimum, double maximum, std::uint64_t samples = 100) {
  return {samples, minimum, maximum, {(minimum + maximum) / 2}, {1}};
}

TEST(ContradictionTest, TheSameKindOfDataAgrees) {
  EXPECT_EQ(contradiction(range(0, 1), range(0.02, 0.9)), std::nullopt);
  EXPECT_EQ(contradiction(range(-2.1, 2.6), range(-1.9, 2.7)), std::nullopt);
  EXPECT_EQ(contradiction(range(-1, 1), range(-1, 1)), std::nullopt);
}

TEST(ContradictionTest, AnotherScaleOrSign) {
  EXPECT_THAT(*contradiction(range(0, 1), range(0, 255)), HasSubstr("from 0 to 255"));
  EXPECT_THAT(*contradiction(range(0, 255), range(0, 1)), HasSubstr("from 0 to 1,"));
  EXPECT_TRUE(contradiction(range(-1, 1), range(0, 1)));
  EXPECT_TRUE(contradiction(range(0, 1), range(-1, 1)));
  EXPECT_TRUE(contradiction(range(-1, 1), range(-32768, 32767)));
  EXPECT_TRUE(contradiction(range(-1, 1), range(-1. / 32768, 1. / 32768)));
  EXPECT_TRUE(contradiction(range(-2.1, 2.6), range(-2.12, -2.1)));  // scaled twice, then normalized
}

TEST(ContradictionTest, QuietSoundIsNone) {
  for (const double peak : {0.1, 0.01, 0.001, 0.0})
    EXPECT_EQ(contradiction(range(-1, 1), range(-peak, peak)), std::nullopt) << peak;
}

TEST(ContradictionTest, AFewSamplesSayLittle) {
  EXPECT_EQ(contradiction(range(0, 255), range(0, 1, 3)), std::nullopt);
  EXPECT_EQ(contradiction(range(-1, 1), range(0, 1, 3)), std::nullopt);
  EXPECT_TRUE(contradiction(range(0, 1), range(0, 255, 1)));  // one sample is enough here
  EXPECT_EQ(contradiction(range(0, 1, 0), range(0, 255)), std::nullopt);
  EXPECT_EQ(contradiction(range(0, 1), range(0, 255, 0)), std::nullopt);
}

TEST(ContradictionTest, ColoursInTheOppositeOrder) {
  const Observed recorded{100, 0, 1, {0.5, 0.45, 0.4}, {0.2, 0.2, 0.2}};
  Observed seen = recorded;
  EXPECT_EQ(contradiction(recorded, seen), std::nullopt);
  seen.mean = {0.4, 0.45, 0.5};
  EXPECT_THAT(*contradiction(recorded, seen), HasSubstr("red and blue are swapped"));
  seen.samples = 3;
  EXPECT_EQ(contradiction(recorded, seen), std::nullopt);
}

// The same images with red and blue swapped, normalized by the mean and standard deviation of each channel.
TEST(ContradictionTest, ColoursInTheOppositeOrderBeforeTheNormalization) {
  InputContract contract;
  contract.kind = InputKind::kImage;
  contract.mean = {0.4914, 0.4822, 0.4465};
  contract.deviation = {0.247, 0.2435, 0.2616};
  const auto normalized = [&](const std::vector<double>& pixels) {
    Observed observed{200, -2, 2.1, {}, {0.98, 0.96, 0.94}};
    for (std::size_t i = 0; i < 3; ++i)
      observed.mean.push_back((pixels[i] - contract.mean[i]) / contract.deviation[i]);
    return observed;
  };
  contract.observed = normalized({0.478, 0.463, 0.412});
  EXPECT_EQ(data::contradiction(contract, normalized({0.478, 0.463, 0.412})), std::nullopt);
  EXPECT_EQ(data::contradiction(contract, normalized({0.521, 0.508, 0.461})), std::nullopt);  // brighter
  for (const double brighter : {-0.03, 0.0, 0.03}) {
    const auto differs =
        data::contradiction(contract, normalized({0.415 + brighter, 0.462 + brighter, 0.476 + brighter}));
    ASSERT_TRUE(differs) << brighter;
    EXPECT_THAT(*differs, HasSubstr("red and blue are swapped"));
  }
}

TEST(ContradictionTest, GreyPicturesHaveNoOrder) {
  const Observed recorded{100, 0, 1, {0.5, 0.5, 0.499}, {0.2, 0.2, 0.2}};
  Observed seen = recorded;
  seen.mean = {0.499, 0.5, 0.5};
  EXPECT_EQ(contradiction(recorded, seen), std::nullopt);
}

// Images normalized to mean 0 and standard deviation 1.
TEST(DoubtTest, AnotherNormalizationIsSeenInMeansAndDeviations) {
  const auto pictures = [](double mean, double deviation, std::uint64_t samples = 100) {
    return Observed{samples, -2.1, 2.6, {mean, mean, mean}, {deviation, deviation, deviation}};
  };
  InputContract contract;
  contract.observed = pictures(0, 1);
  EXPECT_EQ(doubt(contract, pictures(0.1, 0.95)), std::nullopt);
  EXPECT_EQ(doubt(contract, pictures(-1, 0.7)), std::nullopt);  // dark images
  EXPECT_THAT(*doubt(contract, pictures(-0.05, 0.45)),
              HasSubstr("normalized in another way"));  // from -1 to 1
  EXPECT_TRUE(doubt(contract, pictures(1.9, 1)));       // without the mean
  EXPECT_TRUE(doubt(contract, pictures(0, 2)));
  EXPECT_EQ(doubt(contract, pictures(0, 0.45, 3)), std::nullopt);
  EXPECT_EQ(doubt(contract, range(-1, 1)), std::nullopt);
  EXPECT_EQ(doubt({}, pictures(0, 0.45)), std::nullopt);
}

}  // namespace
}  // namespace ounce::data
