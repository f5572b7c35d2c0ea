#include "data/image.h"

#include <fmt/format.h>
#include <ounce/error.h>

namespace ounce::data {
namespace {

// The weights of ITU-R 601 in 16 bits, rounded to nearest.
std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

}  // namespace

Image blank_image(int width, int height, int channels) {
  Image image{width, height, channels, {}};
  image.pixels.resize(row_bytes(image) * static_cast<std::size_t>(height));
  return image;
}

Image in_grey(const Image& image) {
  if (image.channels == 1) return image;
  Image grey = blank_image(image.width, image.height, 1);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) grey.pixels[i] = luma(&image.pixels[3 * i]);
  return grey;
}

void check_image_size(std::uint64_t width, std::uint64_t height, const std::string& what,
                      const ImageLimits& limits) {
  if (width == 0 || height == 0) {
    throw Error(ErrorCode::kBadInput, fmt::format("an image of {} x {} pixels has none", width, height),
                what);
  }
  if (width > kMaxSide || height > kMaxSide || width * height > limits.max_pixels) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "an image of {} x {} pixels is too large: at most {} pixels, {} a side; make it smaller first",
            width, height, limits.max_pixels, kMaxSide),
        what);
  }
}

}  // namespace ounce::data
