#include "data/image/image.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <map>

#include "goldens/image_goldens.h"
#include "support/error_of.h"

namespace ounce::data {
namespace {

const std::map<std::string, Filter> filters_by_name = {
    {"nearest", Filter::kNearest}, {"box", Filter::kBox},         {"bilinear", Filter::kBilinear},
    {"hamming", Filter::kHamming}, {"bicubic", Filter::kBicubic}, {"lanczos", Filter::kLanczos}};

TEST(ResizePillow, EveryFilterIsPillowsToTheBit) {
  const std::string source = golden_bytes("resize.png");
  const Image rgb = decode_image(source, "resize.png");
  const Image grey = decode_image(source, "resize.png", ColorMode::kGrey);
  const auto goldens = resized_goldens("pillow");
  ASSERT_EQ(goldens.size(), 6U * 12U);
  for (const auto& [method, pixels] : goldens) {
    const Image result = resize_pillow(pixels.channels == 3 ? rgb : grey, pixels.width, pixels.height,
                                       filters_by_name.at(method));
    EXPECT_EQ(difference(result, pixels), "") << method << " to " << pixels.width << "x" << pixels.height;
  }
}

TEST(ResizePillow, LargerPicturesToo) {
  const auto goldens = large_goldens("pillow");
  ASSERT_GE(goldens.size(), 6U * 24U);
  for (const LargeGolden& golden : goldens) {
    const Image result =
        resize_pillow(golden.source(), golden.width, golden.height, filters_by_name.at(golden.method));
    EXPECT_EQ(fnv1a(result.pixels), golden.digest)
        << golden.method << " of " << golden.from_width << "x" << golden.from_height << "x" << golden.channels
        << " to " << golden.width << "x" << golden.height;
  }
}

TEST(ResizePillow, TheSameSizeIsTheSamePicture) {
  const Image image = LargeGolden{"", 3, 17, 9, 0, 0, ""}.source();
  for (const auto& [name, filter] : filters_by_name)
    EXPECT_EQ(resize_pillow(image, 17, 9, filter), image) << name;
}

TEST(ResizePillow, SizesThatNoImageHasAreRefused) {
  const Image image = blank_image(2, 2, 3);
  for (const Size size : {Size{0, 4}, {4, -1}, {1 << 30, 1}, {100000, 100000}}) {
    EXPECT_EQ(ounce::test::error_of([&] {
                resize_pillow(image, size.width, size.height, Filter::kBilinear);
              }).code(),
              ErrorCode::kBadInput);
  }
}

TEST(ResizePillow, WhatLiesBetweenTheTwoPassesIsBounded) {
  const Image column = blank_image(1, 1 << 20, 1);
  EXPECT_EQ(ounce::test::error_of([&] { resize_pillow(column, 1 << 20, 1, Filter::kBox); }).code(),
            ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce::data
