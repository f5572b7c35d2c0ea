#include "evaluate/compare/comparison.h"

#include <gmock/gmock.h>

#include <cmath>

#include "data/containers/wav.h"
#include "data/image/image.h"
#include "data/tensor.h"

namespace ounce::evaluate {
namespace {

data::Tensor floats(data::Dims dims, float (*value)(std::size_t)) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return {ElementType::kFloat, std::move(dims),
          std::string(reinterpret_cast<const char*>(values.data()), 4 * count)};
}

float ramp(std::size_t i) { return static_cast<float>(i); }

TEST(SamplePicture, BrightnessGoesFromTheSmallestToTheLargestValue) {
  const auto picture = picture_of("x", floats({1, 1, 8, 16}, ramp));
  ASSERT_TRUE(picture);
  const data::Image image = data::decode_image(picture->png, "x");
  EXPECT_EQ(image.width, 16);
  EXPECT_EQ(image.height, 8);
  EXPECT_EQ(image.pixels.front(), 0);
  EXPECT_EQ(image.pixels.back(), 255);
  EXPECT_TRUE(picture->lowest.empty());
}

TEST(SamplePicture, ColoursMayComeFirstOrLast) {
  // Only the blue channel is bright.
  const auto first =
      picture_of("x", floats({1, 3, 8, 8}, [](std::size_t i) { return i < 128 ? 0.0F : 1.0F; }));
  const auto last =
      picture_of("x", floats({1, 8, 8, 3}, [](std::size_t i) { return i % 3 == 2 ? 1.0F : 0.0F; }));
  ASSERT_TRUE(first && last);
  EXPECT_EQ(data::decode_image(first->png, "x"), data::decode_image(last->png, "x"));
}

TEST(SamplePicture, LargePicturesShrink) {
  const auto picture = picture_of("x", floats({1, 3, 300, 600}, ramp));
  ASSERT_TRUE(picture);
  const data::Image image = data::decode_image(picture->png, "x");
  EXPECT_EQ(image.width, InputPicture::kPixels);
  EXPECT_EQ(image.height, InputPicture::kPixels / 2);
}

TEST(SamplePicture, AWaveformIsTheExtremesOfItsStretches) {
  const auto picture =
      picture_of("x", floats({1, 2400}, [](std::size_t i) { return i % 2 == 0 ? -1.0F : 2.0F; }));
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->lowest, std::vector<float>(InputPicture::kStretches, -1));
  EXPECT_EQ(picture->highest, std::vector<float>(InputPicture::kStretches, 2));
  EXPECT_TRUE(picture->png.empty());
}

TEST(SamplePicture, AWaveformIsASound) {
  const auto values = floats({1, 40'000}, [](std::size_t i) { return i % 2 == 0 ? -0.5F : 2.0F; });
  const auto picture = picture_of("x", values, {.rate = 8000, .range = Range{-1, 1}});
  ASSERT_TRUE(picture);
  const data::WavInfo info = data::probe_wav(picture->wav, "x");
  EXPECT_EQ(info.rate, 8000U);
  EXPECT_EQ(info.channels, 1U);
  EXPECT_EQ(info.frames, InputPicture::kMostSound);
  const data::Tensor sound = data::read_wav(picture->wav, "x", 0, 2);
  EXPECT_THAT(data::to_doubles(sound, "x"), testing::ElementsAre(-16384, 32767));
  // Values beyond 1 are scaled down.
  const auto loud = picture_of("x", values);
  EXPECT_THAT(data::to_doubles(data::read_wav(loud->wav, "x", 0, 2), "x"),
              testing::ElementsAre(-8192, 32767));
  EXPECT_FALSE(picture_of("x", values, {.least_sound = 50'000}));
}

TEST(SamplePicture, TwoOutputsCanHaveOneScale) {
  const auto picture =
      picture_of("y", floats({1, 1, 8, 8}, [](std::size_t) { return 5.0F; }), {.range = Range{0, 10}});
  ASSERT_TRUE(picture);
  EXPECT_NEAR(data::decode_image(picture->png, "y").pixels[0], 128, 1);
  EXPECT_TRUE(picture->wav.empty());
}

TEST(SamplePicture, NumbersThatAreNoPictureAreNone) {
  EXPECT_FALSE(picture_of("x", floats({1, 128}, ramp)));         // features
  EXPECT_FALSE(picture_of("x", floats({1, 64, 14, 14}, ramp)));  // a map of an inner layer
  EXPECT_FALSE(picture_of("x", floats({1, 2, 300}, ramp)));      // two signals
  EXPECT_FALSE(picture_of("x", floats({1, 300}, [](std::size_t) { return NAN; })));
  data::Tensor tokens{ElementType::kInt64, {1, 512}, std::string(512 * 8, '\0')};
  EXPECT_FALSE(picture_of("x", tokens));
}

TEST(SamplePicture, APixelThatIsNoNumberIsBlack) {
  const auto picture =
      picture_of("x", floats({1, 1, 8, 8}, [](std::size_t i) { return i == 0 ? NAN : 1.0F + ramp(i); }));
  ASSERT_TRUE(picture);
  EXPECT_EQ(data::decode_image(picture->png, "x").pixels[0], 0);
}

}  // namespace
}  // namespace ounce::evaluate
