#include "data/crop.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace ounce::data {
namespace {

int half_to_even(int value) {
  const int half = value / 2;
  return value % 2 == 0 ? half : half + half % 2;
}

// What is copied along one axis, and where to.
struct Overlap {
  int from, to, count;
};

Overlap overlap_of(int source, int target, CropRule rule) {
  const bool torchvision = rule == CropRule::kTorchvision;
  if (target <= source) {
    const int cut = source - target;
    return {torchvision ? half_to_even(cut) : cut / 2, 0, target};
  }
  const int border = target - source;
  return {0, torchvision ? border / 2 : (border + 1) / 2, source};
}

}  // namespace

Size shortest_side_size(int width, int height, int shortest) {
  check_image_size(side(width), side(height), "image to resize");
  const std::uint64_t longest =
      side(shortest) * side(std::max(width, height)) / side(std::min(width, height));
  check_image_size(side(shortest), longest, "resized image");
  const int other = static_cast<int>(longest);
  return width <= height ? Size{shortest, other} : Size{other, shortest};
}

Image center_crop(const Image& image, int width, int height, CropRule rule) {
  check_image_size(side(width), side(height), "cropped image");
  const Overlap across = overlap_of(image.width, width, rule), down = overlap_of(image.height, height, rule);
  Image result = blank_image(width, height, image.channels);
  const auto bytes = [&](int pixels) { return side(pixels) * side(image.channels); };
  for (int y = 0; y < down.count; ++y) {
    const std::uint8_t* from =
        image.pixels.data() + side(down.from + y) * row_bytes(image) + bytes(across.from);
    std::copy_n(from, bytes(across.count),
                result.pixels.data() + side(down.to + y) * row_bytes(result) + bytes(across.to));
  }
  return result;
}

}  // namespace ounce::data
