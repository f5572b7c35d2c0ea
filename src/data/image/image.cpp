#include "data/image/image.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace ounce::data {
namespace {

// Luma with the weights of ITU-R BT.601 as 16-bit fixed-point numbers, rounded to nearest.
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
    throw Error(ErrorCode::kBadInput, fmt::format("an image of {} x {} pixels is empty", width, height),
                what);
  }
  if (width > kMaxSide || height > kMaxSide || width * height > limits.max_pixels) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("an image of {} x {} pixels is too large: at most {} pixels and {} per side are "
                            "supported; scale it down first",
                            width, height, limits.max_pixels, kMaxSide),
                what);
  }
}

namespace {

int half_to_even(int value) {
  const int half = value / 2;
  return value % 2 == 0 ? half : half + half % 2;
}

// The pixels to copy along one axis: source, target and number.
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

namespace {

using Shape = std::vector<ValueDescription::Dimension>;

bool matches(const Dims& dims, const Shape& shape) {
  return std::equal(
      dims.begin(), dims.end(), shape.begin(), shape.end(),
      [](std::int64_t dim, const auto& wanted) { return wanted.value < 0 || wanted.value == dim; });
}

// Puts the sample's dimensions into the input's axes that are not fixed to 1.
std::optional<Dims> with_ones(const Dims& sample, const Shape& shape) {
  Dims left = sample, result;
  std::erase(left, 1);
  std::size_t used = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_one = shape[axis].value == 1 || (axis == 0 && shape[axis].value < 0);
    if (is_one) {
      result.push_back(1);
    } else if (used < left.size()) {
      result.push_back(left[used++]);
    } else {
      result.push_back(1);  // a dynamic axis that the sample does not have
    }
  }
  if (used != left.size() || !matches(result, shape)) return std::nullopt;
  return result;
}

// Advice if only the position of the channel axis differs: [32,32,3] for an input [N,3,32,32].
std::string hint_of_layout(const Dims& sample, const Shape& shape, bool is_image) {
  if (sample.size() != 3 || shape.size() != 4) return {};
  const Shape inner(shape.begin() + 1, shape.end());
  const Dims planar = {sample[2], sample[0], sample[1]}, interleaved = {sample[1], sample[2], sample[0]};
  const bool is_planar = matches(planar, inner);
  if (!is_planar && !matches(interleaved, inner)) return {};
  const char* const what = is_planar ? "the channels are last in the data and first in the model"
                                     : "the channels are first in the data and last in the model";
  if (is_planar && is_image)
    return fmt::format(
        ": {}; set `layout=nchw`, the layout of the model's input, or derive it with `derive_contract=true`",
        what);
  return fmt::format(": {}; transpose the data to [{}]", what,
                     fmt::join(is_planar ? planar : interleaved, ","));
}

}  // namespace

Dims fit(const Dims& sample, const ValueDescription& input, bool is_whole, const std::string& where,
         bool is_image) {
  if (input.shape.empty()) return sample;  // a scalar, or of unknown rank
  if (matches(sample, input.shape) && (is_whole || sample.size() == input.shape.size())) return sample;
  if (!is_whole) {
    Dims batched = sample;
    batched.insert(batched.begin(), 1);
    // A fixed batch is filled by several samples.
    Shape shape = input.shape;
    shape[0].value = -1;
    if (matches(batched, shape)) return batched;
    if (const auto dims = with_ones(sample, shape)) return *dims;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("a sample is [{}], but the input '{}' is {}{}", fmt::join(sample, ","), input.name,
                          describe(input), hint_of_layout(sample, input.shape, is_image)),
              where);
}

}  // namespace ounce::data
