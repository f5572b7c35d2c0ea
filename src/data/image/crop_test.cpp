#include "data/image/image.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::data {
namespace {

using Row = std::vector<std::uint8_t>;

// One row of gray pixels: 1, 2, 3, ...
Image row_of(int width) {
  Image image = blank_image(width, 1, 1);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i + 1);
  return image;
}

Row cropped(int from, int to, CropRule rule) { return center_crop(row_of(from), to, 1, rule).pixels; }

TEST(Crop, TheShorterSideIsMetAndTheLongerRoundedDown) {
  EXPECT_EQ(shortest_side_size(500, 375, 256), (Size{341, 256}));
  EXPECT_EQ(shortest_side_size(375, 500, 256), (Size{256, 341}));
  EXPECT_EQ(shortest_side_size(300, 300, 224), (Size{224, 224}));
  EXPECT_EQ(shortest_side_size(1, 3, 224), (Size{224, 672}));
  EXPECT_EQ(shortest_side_size(1000, 999, 10), (Size{10, 10}));
}

TEST(Crop, AStripIsNotBlownUpBeyondAllBounds) {
  EXPECT_EQ(ounce::test::error_of([] { shortest_side_size(1, 65535, 224); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(ounce::test::error_of([] { shortest_side_size(10, 10, 0); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(ounce::test::error_of([] { shortest_side_size(0, 10, 5); }).code(), ErrorCode::kBadInput);
}

TEST(Crop, TheMiddleIsCutOut) {
  for (const CropRule rule : {CropRule::kTorchvision, CropRule::kHuggingFace}) {
    EXPECT_EQ(cropped(6, 4, rule), (Row{2, 3, 4, 5}));
    EXPECT_EQ(cropped(4, 4, rule), (Row{1, 2, 3, 4}));
  }
}

TEST(Crop, TorchvisionRoundsHalvesToEven) {
  EXPECT_EQ(cropped(5, 4, CropRule::kTorchvision), (Row{1, 2, 3, 4}));  // 0.5 rounds to 0
  EXPECT_EQ(cropped(7, 4, CropRule::kTorchvision), (Row{3, 4, 5, 6}));  // 1.5 rounds to 2
  EXPECT_EQ(cropped(9, 4, CropRule::kTorchvision), (Row{3, 4, 5, 6}));  // 2.5 rounds to 2
}

TEST(Crop, HuggingFaceRoundsDown) {
  EXPECT_EQ(cropped(5, 4, CropRule::kHuggingFace), (Row{1, 2, 3, 4}));
  EXPECT_EQ(cropped(7, 4, CropRule::kHuggingFace), (Row{2, 3, 4, 5}));
}

TEST(Crop, BlackSurroundsWhatIsTooSmall) {
  EXPECT_EQ(cropped(2, 4, CropRule::kTorchvision), (Row{0, 1, 2, 0}));
  EXPECT_EQ(cropped(2, 5, CropRule::kTorchvision), (Row{0, 1, 2, 0, 0}));
  EXPECT_EQ(cropped(2, 5, CropRule::kHuggingFace), (Row{0, 0, 1, 2, 0}));
}

TEST(Crop, EachAxisIsCutOrSurroundedOnItsOwn) {
  const Image image{1, 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const Image result = center_crop(image, 3, 1, CropRule::kTorchvision);
  EXPECT_EQ(result, (Image{3, 1, 3, {0, 0, 0, 4, 5, 6, 0, 0, 0}}));
}

}  // namespace
}  // namespace ounce::data
