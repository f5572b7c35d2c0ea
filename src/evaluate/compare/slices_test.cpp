#include "evaluate/compare/difference.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

namespace ounce::evaluate {
namespace {

using data::Dims;
using testing::IsEmpty;
using testing::SizeIs;

// The values at one index of an axis: normally distributed numbers, or scores, most of which are near zero.
struct Channel {
  double scale = 1, noise = 0;
  bool is_score = false;
  double share = 0.01;  // of scores that are not near zero
};

Channel numbers(double scale, double noise) { return {scale, noise}; }
Channel scores(double scale, double noise, double share = 0.01) { return {scale, noise, true, share}; }

class SliceTest : public testing::Test {
 protected:
  // Adds a sample [1, channels, positions], or [1, positions, channels] if `is_last`.
  void add(const std::vector<Channel>& channels, std::size_t positions, bool is_last = false) {
    std::vector<float> a(channels.size() * positions), b(a.size());
    std::uniform_real_distribution<double> uniform;
    std::normal_distribution<double> normal;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      for (std::size_t p = 0; p < positions; ++p) {
        const Channel& channel = channels[c];
        const bool says = uniform(random_) < channel.share;
        const double value = channel.is_score ? channel.scale * (says ? 0.5 + uniform(random_) / 2 : 1e-4)
                                              : channel.scale * normal(random_);
        const std::size_t at = is_last ? p * channels.size() + c : c * positions + p;
        a[at] = static_cast<float>(value);
        b[at] = static_cast<float>(value + channel.noise * normal(random_));
      }
    }
    const auto long_side = static_cast<std::int64_t>(positions),
               short_side = static_cast<std::int64_t>(channels.size());
    meter_.add(a, b, is_last ? Dims{1, long_side, short_side} : Dims{1, short_side, long_side});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const OutputSlice& slice : meter_.slices("y")) all.push_back(slice.name);
    return all;
  }

  SliceMeter meter_;
  std::mt19937 random_{1};
};

std::vector<Channel> boxes_and(std::vector<Channel> more, double box_noise = 3) {
  more.insert(more.begin(), 4, numbers(300, box_noise));
  return more;
}

TEST_F(SliceTest, ScoresBesideBoxesAreJudgedForThemselves) {
  add(boxes_and(std::vector<Channel>(80, scores(1, 0.04))), 2000);
  const std::vector<OutputSlice> slices = meter_.slices("output0");
  ASSERT_THAT(slices, SizeIs(2));
  EXPECT_EQ(slices[0].name, "output0[:, 4:84, :]");
  EXPECT_NEAR(slices[0].sqnr_db, 5.6, 1);
  EXPECT_EQ(slices[0].axis, 1U);
  ASSERT_THAT(slices[0].ranges, SizeIs(1));
  EXPECT_EQ(slices[0].ranges[0].begin, 4U);
  EXPECT_EQ(slices[0].ranges[0].end, 84U);
  EXPECT_EQ(slices[0].values, 80U * 2000);
  EXPECT_EQ(slices[1].name, "output0[:, 0:4, :]");
  EXPECT_NEAR(slices[1].sqnr_db, 40, 0.5);
  EXPECT_NEAR(slices[1].rms, 300, 10);
}

TEST_F(SliceTest, OnTheLastAxisToo) {
  add(boxes_and(std::vector<Channel>(81, scores(1, 0.04))), 2000, true);
  EXPECT_THAT(names(), testing::ElementsAre("y[:, :, 4:85]", "y[:, :, 0:4]"));
}

TEST_F(SliceTest, SamplesAddUp) {
  for (int i = 0; i < 3; ++i) add(boxes_and({scores(1, 0.04), scores(1, 0.04)}), 500);
  EXPECT_EQ(meter_.slices("y").at(0).values, 3U * 2 * 500);
}

TEST_F(SliceTest, ChannelsOfLikeScaleAreOneAndHaveNoSlices) {
  std::vector<Channel> channels;
  for (int i = 0; i < 40; ++i) channels.push_back(numbers(1 + 0.2 * i, 0.1));
  add(channels, 500);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SliceTest, AClassThatNeverOccursIsJudgedWithThoseThatDo) {
  std::vector<Channel> channels(80, scores(0.01, 0.01));  // as much noise as signal
  channels[0] = channels[7] = scores(1, 0.001);
  add(boxes_and(channels), 2000);
  ASSERT_THAT(meter_.slices("y"), SizeIs(2));
  EXPECT_EQ(meter_.slices("y")[0].ranges.front().begin, 4U);
  EXPECT_EQ(meter_.slices("y")[0].ranges.back().end, 84U);
}

TEST_F(SliceTest, ScoresThatNeverSayAnythingAreNoSlice) {
  add(boxes_and(std::vector<Channel>(80, scores(0.02, 0.02))), 2000);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SliceTest, ABackgroundDoesNotHideWhatStandsBeforeIt) {
  add({{1, 0.01, true, 1}, scores(1, 0.01, 0.005)}, 5000);
  EXPECT_THAT(names(), testing::ElementsAre("y[:, 1, :]", "y[:, 0, :]"));
}

TEST_F(SliceTest, ConstantsAndDeadChannelsAreNoSlices) {
  std::vector<Channel> channels(64, numbers(1, 0.01));
  channels[9] = numbers(1e-3, 0.01);   // a single channel of small scale
  channels[20] = numbers(0, 0.01);     // always zero
  channels[21] = numbers(1e-7, 0.01);  // only rounding errors
  add(channels, 500);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SliceTest, QuantitiesOfOtherUnitsAreSlices) {
  add({numbers(1e4, 1), numbers(300, 1), numbers(0.5, 0.4)}, 200);
  EXPECT_THAT(names(), testing::ElementsAre("y[:, 2, :]", "y[:, 1, :]", "y[:, 0, :]"));
}

// A small logit among larger ones is not a slice.
TEST_F(SliceTest, AVectorHasNoSlices) {
  std::vector<float> values;
  for (int i = 0; i < 40; ++i)
    values.insert(values.end(), {i % 2 == 0 ? 400.0F : -400.0F, i % 2 == 0 ? 1.0F : -1.0F});
  SliceMeter meter;
  meter.add(values, values, {40, 2});
  EXPECT_THAT(meter.slices("y"), IsEmpty());
}

TEST_F(SliceTest, ManyPiecesAreNamedByTheFirst) {
  std::vector<Channel> channels;
  for (int i = 0; i < 10; ++i)
    channels.insert(channels.end(), {numbers(200, 1), numbers(200, 1), scores(1, 0.2, 0.5)});
  add(channels, 500);
  EXPECT_THAT(names(), testing::ElementsAre("y[:, 2+5+8+…, :]", "y[:, 0:2+3:5+6:8+…, :]"));
}

TEST_F(SliceTest, FewValuesDoNotTellAScale) {
  add({numbers(100, 1), numbers(0.1, 1)}, 10);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SliceTest, AnAxisThatChangesItsLengthHasNone) {
  add(boxes_and({scores(1, 0.1)}), 500);
  add(boxes_and({scores(1, 0.1), scores(1, 0.1)}), 500);
  add(boxes_and({scores(1, 0.1)}), 500);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SliceTest, TheFirstAxisAndLongOnesAreNotCut) {
  const std::vector<float> values(2 * 300, 1);
  std::vector<float> quiet = values;
  std::fill(quiet.begin(), quiet.begin() + 300, 1e-3F);
  meter_.add(quiet, quiet, {2, 300});
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SliceTest, NothingAndNotANumberAreLeftOut) {
  meter_.add({}, {}, {1, 0, 6});
  add(boxes_and({scores(1, 0.01)}), 500);
  std::vector<float> a(5 * 100, 1), b(a.size(), std::numeric_limits<float>::quiet_NaN());
  meter_.add(a, b, {1, 5, 100});
  EXPECT_EQ(meter_.slices("y").at(0).values + meter_.slices("y").at(1).values, 5U * 500);
}

TEST_F(SliceTest, EqualValuesAreIdentical) {
  add(boxes_and({scores(1, 0)}, 0), 500);
  for (const OutputSlice& slice : meter_.slices("y")) EXPECT_TRUE(std::isinf(slice.sqnr_db));
}

// The confidence bound of a slice is wide only if its noise differs between samples.
TEST(SliceBounds, SamplesThatDifferMakeASliceUncertain) {
  const auto deviation = [](bool is_steady) {
    SliceMeter meter;
    for (int sample = 0; sample < 40; ++sample) {
      std::vector<float> ours, theirs;
      const float noise = is_steady ? 0.01F : 0.001F * static_cast<float>(1 + sample % 10);
      for (int index = 0; index < 8; ++index) {
        for (int i = 0; i < 20; ++i) {
          const float scale = index < 4 ? 300.F : 0.5F;
          ours.push_back(scale);
          theirs.push_back(scale + noise);
        }
      }
      meter.add(ours, theirs, {1, 8, 20});
      meter.end_sample();
    }
    const std::vector<OutputSlice> slices = meter.slices("y");
    return slices.empty() ? -1 : slices.front().sqnr_deviation_db;
  };
  EXPECT_GE(deviation(true), 0);
  EXPECT_LT(deviation(true), 0.01);
  EXPECT_GT(deviation(false), 0.3);
  EXPECT_LT(deviation(false), 1.5);
}

}  // namespace
}  // namespace ounce::evaluate
