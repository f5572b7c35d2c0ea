#include "data/image/image.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>

#include "goldens/image_goldens.h"
#include "support/error_of.h"

namespace ounce::data {
namespace {

const std::map<std::string, Interpolation> interpolations_by_name = {{"nearest", Interpolation::kNearest},
                                                                     {"linear", Interpolation::kLinear},
                                                                     {"cubic", Interpolation::kCubic},
                                                                     {"area", Interpolation::kArea}};

TEST(ResizeOpenCv, EveryInterpolationIsOpenCvsToTheBit) {
  const std::string source = golden_bytes("resize.png");
  const Image rgb = decode_image(source, "resize.png");
  const Image grey = decode_image(source, "resize.png", ColorMode::kGrey);
  const auto goldens = resized_goldens("opencv");
  ASSERT_EQ(goldens.size(), 4U * 12U);
  for (const auto& [method, pixels] : goldens) {
    const Image result = resize_opencv(pixels.channels == 3 ? rgb : grey, pixels.width, pixels.height,
                                       interpolations_by_name.at(method));
    EXPECT_EQ(difference(result, pixels), "") << method << " to " << pixels.width << "x" << pixels.height;
  }
}

TEST(ResizeOpenCv, LargerPicturesToo) {
  const auto goldens = large_goldens("opencv");
  ASSERT_GE(goldens.size(), 4U * 24U);
  for (const LargeGolden& golden : goldens) {
    const Image result =
        resize_opencv(golden.source(), golden.width, golden.height, interpolations_by_name.at(golden.method));
    EXPECT_EQ(fnv1a(result.pixels), golden.digest)
        << golden.method << " of " << golden.from_width << "x" << golden.from_height << "x" << golden.channels
        << " to " << golden.width << "x" << golden.height;
  }
}

TEST(ResizeOpenCv, TheSameSizeIsTheSamePicture) {
  const Image image = LargeGolden{"", 3, 17, 9, 0, 0, ""}.source();
  for (const auto& [name, interpolation] : interpolations_by_name)
    EXPECT_EQ(resize_opencv(image, 17, 9, interpolation), image) << name;
}

TEST(ResizeOpenCv, TheMeanOfMillionsOfPixelsDoesNotOverflow) {
  Image image = blank_image(4096, 4096, 1);
  std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t{200});
  EXPECT_EQ(resize_opencv(image, 1, 1, Interpolation::kArea).pixels, std::vector<std::uint8_t>{200});
}

TEST(ResizeOpenCv, SizesThatNoImageHasAreRefused) {
  const Image image = blank_image(2, 2, 3);
  for (const Size size : {Size{0, 4}, {4, -1}, {1 << 30, 1}, {100000, 100000}}) {
    EXPECT_EQ(ounce::test::error_of([&] {
                resize_opencv(image, size.width, size.height, Interpolation::kLinear);
              }).code(),
              ErrorCode::kBadInput);
  }
}

}  // namespace
}  // namespace ounce::data
