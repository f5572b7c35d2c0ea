// Pictures as decoded pixels, and how to get them from the bytes of a JPEG or PNG file.
//
//   const auto file = io::MappedFile::open("faces/1.jpg");
//   const Image image = decode_image(file.bytes(), "faces/1.jpg");
//
// The pixels are those that Pillow's Image.open(file).convert("RGB") has, byte for byte, because most models
// were trained on them. That includes what one might not expect of it: EXIF orientation is not applied, gamma
// and colour profiles are ignored, alpha is dropped (not blended), and grey of 16 bits is clipped at 255 (not
// scaled), while colour of 16 bits keeps its upper byte.
//
// Unlike Pillow, damaged pixels are an error and never a silent guess. Bytes that no pixel depends on, such
// as metadata or whatever follows the picture, may be broken.
#pragma once

#include <ounce/contract.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Row after row, the channels of a pixel side by side: red, green, blue, or grey alone.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;  // 3 or 1
  std::vector<std::uint8_t> pixels;

  bool operator==(const Image&) const = default;
};

// A picture of that size with all pixels 0.
Image blank_image(int width, int height, int channels);

// As Pillow's convert("L").
Image in_grey(const Image& image);

// Bytes from one row to the next.
inline std::size_t row_bytes(const Image& image) {
  return static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
}

// 8192 x 8192: 200 MB, and some copies of it for a moment.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 26;
inline constexpr std::uint64_t kMaxSide = std::uint64_t{1} << 20;

struct ImageLimits {
  std::uint64_t max_pixels = kMaxPixels;  // refused before memory is asked for
};

// Throws Error{kBadInput} naming `what` unless both sides are between 1 and kMaxSide and the pixels within
// the limit. Everything that makes an image asks here first.
void check_image_size(std::uint64_t width, std::uint64_t height, const std::string& what,
                      const ImageLimits& limits = {});

// A side as check_image_size() wants it: what is below zero is as wrong as zero.
inline std::uint64_t side(int value) { return static_cast<std::uint64_t>(std::max(value, 0)); }

enum class ColorMode {
  kRgb,
  kGrey,  // as Pillow's convert("L") of the RGB pixels
};

// `name` stands in errors. Throws Error{kBadInput} when the bytes are neither JPEG nor PNG, are truncated or
// damaged, or hold more pixels than the limit; Error{kUnsupported} for a kind of JPEG that libjpeg cannot
// read.
Image decode_image(std::string_view bytes, const std::string& name, ColorMode mode = ColorMode::kRgb,
                   const ImageLimits& limits = {});

// The geometry between "any picture" and "the square that a model takes": resize the shorter side, cut out
// the middle.
//
//   const Size size = shortest_side_size(image.width, image.height, 256);
//   image = resize_pillow(image, size.width, size.height, Filter::kBilinear);
//   image = center_crop(image, 224, 224, CropRule::kTorchvision);

struct Size {
  int width, height;
  bool operator==(const Size&) const = default;
};

// The shorter side becomes `shortest`, the longer one keeps the proportion, rounded down: torchvision's
// Resize(S) and Hugging Face's {"shortest_edge": S}. Throws Error{kBadInput} for a size that no image may
// have (image.h).
Size shortest_side_size(int width, int height, int shortest);

// Both cut out the middle and put black around a picture that is too small; they differ by a pixel where the
// difference of the sizes is odd:
//   torchvision   CenterCrop: what is cut off before is rounded to even, the border before rounded down
//   huggingface   center_crop: what is cut off before is rounded down, the border before rounded up
Image center_crop(const Image& image, int width, int height, CropRule rule);

// The shape that a sample takes as a model's input.

// The input's dimensions for one sample, with the batch axis (of 1) if the input has one. A sample [8000]
// fits [N,8000], [N,1,8000] (axes of one entry may be added or left out) and [8000]. `is_whole`: the sample
// has its batch axis already. `is_image`: it was read as bytes, which a contract can bring into another
// layout. Throws Error{kBadInput} when it does not fit.
Dims fit(const Dims& sample, const ValueDescription& input, bool is_whole, const std::string& where,
         bool is_image = false);

// Resizing as Pillow's Image.resize((width, height), filter) does it, bit for bit: what torchvision and
// Hugging Face's image processors use on PIL images.
//
//   const Image small = resize_pillow(image, 224, 224, Filter::kBilinear);
//
// All filters but nearest widen with the scale, so that shrinking averages (antialiasing). The rows are
// resized first and rounded to 8 bits, then the columns. That is what Pillow does up to 12.1. Later versions
// take the columns first in some pictures that lose much of their height (12.2: more than 100 times as high
// as wide; 13.0: wherever the height loses more than twice as many pixels as the width), which rounds
// differently.

enum class Filter { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };

// Throws Error{kBadInput} for a size that no image may have (image.h).
Image resize_pillow(const Image& image, int width, int height, Filter filter);

// Resizing as OpenCV's cv2.resize(image, (width, height), interpolation=...) does it for 8-bit pixels.
//
//   const Image small = resize_opencv(image, 640, 640, Interpolation::kLinear);
//
// Nearest, linear and area are bit-exact. Cubic is bit-exact with OpenCV's own code for x86-64; its packages
// for pip call Intel's IPP for cubic where the processor allows it, and that differs by at most 1 in some
// pixels. Only area averages when it shrinks; the others look at the nearest 1, 4 or 16 pixels and skip the
// rest.

enum class Interpolation { kNearest, kLinear, kCubic, kArea };  // cv2.INTER_NEAREST, ...

// Throws Error{kBadInput} for a size that no image may have (image.h).
Image resize_opencv(const Image& image, int width, int height, Interpolation interpolation);

// JPEG files to RGB pixels, through libjpeg; decode_image() in image.h is the way in.

bool is_jpeg(std::string_view bytes);  // by its first bytes

// A CMYK picture is converted as Pillow does it: as Adobe writes them (inverted), without a colour profile.
Image decode_jpeg(std::string_view bytes, const std::string& name, const ImageLimits& limits);

// PNG files to RGB pixels, through libpng; decode_image() in image.h is the way in.

bool is_png(std::string_view bytes);  // by its first bytes

// Of an animation, the picture that viewers without animation show.
Image decode_png(std::string_view bytes, const std::string& name, const ImageLimits& limits);

// Pixels to the bytes of a PNG file.

std::string encode_png(const Image& image);

}  // namespace ounce::data
