#include "data/image/image.h"

#include <gtest/gtest.h>

namespace ounce::data {
namespace {

Image ramp(int width, int height, int channels) {
  Image image = blank_image(width, height, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i * 37);
  return image;
}

TEST(PngWriter, WhatIsWrittenReadsAsTheSamePixels) {
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{7, 3}, std::pair{96, 64}}) {
    const Image image = ramp(width, height, 3);
    EXPECT_EQ(decode_image(encode_png(image), "a.png"), image);
  }
}

TEST(PngWriter, GreyReadsAsThreeEqualChannels) {
  const Image grey = ramp(5, 4, 1);
  const Image read = decode_image(encode_png(grey), "a.png");
  ASSERT_EQ(read.pixels.size(), 3 * grey.pixels.size());
  for (std::size_t i = 0; i < read.pixels.size(); ++i) EXPECT_EQ(read.pixels[i], grey.pixels[i / 3]);
}

}  // namespace
}  // namespace ounce::data
