// Images as decoded pixels: decodes JPEG and PNG files, crops and resizes.
//
//   const auto file = io::MappedFile::open("faces/1.jpg");
//   const Image image = decode_image(file.bytes(), "faces/1.jpg");
//
// The pixels equal those of Pillow's Image.open(file).convert("RGB"), byte for byte, because most models were
// trained on them. This includes surprising behavior: EXIF orientation, gamma and color profiles are ignored,
// alpha is dropped (not blended), 16-bit gray is clipped at 255 (not scaled), and 16-bit color keeps its
// upper byte.
//
// Unlike in Pillow, damaged pixels are always an error. Bytes that do not affect pixels (metadata, data after
// the image) may be damaged.
#pragma once

#include <ounce/data.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Row-major pixels with interleaved channels: red, green, blue; or gray.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;  // 3 or 1
  std::vector<std::uint8_t> pixels;

  bool operator==(const Image&) const = default;
};

// An image of this size with all pixels 0.
Image blank_image(int width, int height, int channels);

// Converts to gray, as Pillow's convert("L").
Image in_grey(const Image& image);

// Bytes from one row to the next.
inline std::size_t row_bytes(const Image& image) {
  return static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
}

// 8192 × 8192 pixels: 200 MB, plus temporary copies.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 26;
inline constexpr std::uint64_t kMaxSide = std::uint64_t{1} << 20;

struct ImageLimits {
  std::uint64_t max_pixels = kMaxPixels;  // checked before memory is allocated
};

// Throws Error{kBadInput} with the name `what` unless both sides are from 1 to kMaxSide and the number of
// pixels is within the limit. All functions that create images call this first.
void check_image_size(std::uint64_t width, std::uint64_t height, const std::string& what,
                      const ImageLimits& limits = {});

// Converts a side for check_image_size(): negative numbers become 0, which is invalid, too.
inline std::uint64_t side(int value) { return static_cast<std::uint64_t>(std::max(value, 0)); }

enum class ColorMode {
  kRgb,
  kGrey,  // as Pillow's convert("L") of the RGB pixels
};

// Decodes a JPEG or PNG file. `name` is used in errors. Throws Error{kBadInput} if the bytes are neither, are
// truncated or damaged, or exceed the limits; Error{kUnsupported} for a kind of JPEG that libjpeg does not
// support.
Image decode_image(std::string_view bytes, const std::string& name, ColorMode mode = ColorMode::kRgb,
                   const ImageLimits& limits = {});

// The usual geometry of preprocessing: resize the shorter side, then crop the center.
//
//   const Size size = shortest_side_size(image.width, image.height, 256);
//   image = resize_pillow(image, size.width, size.height, Filter::kBilinear);
//   image = center_crop(image, 224, 224, CropRule::kTorchvision);

struct Size {
  int width, height;
  bool operator==(const Size&) const = default;
};

// The size after scaling the shorter side to `shortest` with the same aspect ratio, rounded down, as
// torchvision's Resize(S) and Hugging Face's {"shortest_edge": S}. Throws Error{kBadInput} for an invalid
// size.
Size shortest_side_size(int width, int height, int shortest);

// Crops the center, and pads images that are too small with black. The rules differ by one pixel if the
// difference of the sizes is odd:
//   torchvision   CenterCrop: the left/top crop is rounded to even, the left/top padding down
//   huggingface   center_crop: the left/top crop is rounded down, the left/top padding up
Image center_crop(const Image& image, int width, int height, CropRule rule);

// Fitting samples to the shapes of model inputs.

// Returns the input's dimensions for one sample, with a batch axis of 1 if the input has one. A sample [8000]
// fits [N,8000], [N,1,8000] (axes of size 1 may be added or removed) and [8000]. `is_whole`: the sample has
// its batch axis already. `is_image`: it is a decoded image, whose layout a contract can change. Throws
// Error{kBadInput} if it does not fit.
Dims fit(const Dims& sample, const ValueDescription& input, bool is_whole, const std::string& where,
         bool is_image = false);

// Resizes as Pillow's Image.resize((width, height), filter), bit for bit. torchvision and Hugging Face's
// image processors use it for PIL images.
//
//   const Image small = resize_pillow(image, 224, 224, Filter::kBilinear);
//
// All filters except nearest widen with the scale, so that shrinking averages (antialiasing). The rows are
// resized first and rounded to 8 bits, then the columns, as in Pillow up to 12.1. Later versions of Pillow
// resize the columns first in some images whose height shrinks a lot (12.2: images more than 100 times as
// high as wide; 13.0: if the height loses more than twice as many pixels as the width), which rounds
// differently.

enum class Filter { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };

// Throws Error{kBadInput} for an invalid size (check_image_size()).
Image resize_pillow(const Image& image, int width, int height, Filter filter);

// Resizes as OpenCV's cv2.resize(image, (width, height), interpolation=...) for 8-bit pixels.
//
//   const Image small = resize_opencv(image, 640, 640, Interpolation::kLinear);
//
// Nearest, linear and area are bit-exact. Cubic is bit-exact with OpenCV's own x86-64 code. Its pip packages
// use Intel's IPP for cubic on some processors, which differs by at most 1 in some pixels. Only area averages
// when shrinking; the others use the nearest 1, 4 or 16 pixels and skip the rest.

enum class Interpolation { kNearest, kLinear, kCubic, kArea };  // cv2.INTER_NEAREST, ...

// Throws Error{kBadInput} for an invalid size (check_image_size()).
Image resize_opencv(const Image& image, int width, int height, Interpolation interpolation);

// Decodes JPEG files with libjpeg. Use decode_image().

bool is_jpeg(std::string_view bytes);  // by its first bytes

// CMYK images are converted as in Pillow: inverted, as Adobe writes them, without a color profile.
Image decode_jpeg(std::string_view bytes, const std::string& name, const ImageLimits& limits);

// Decodes PNG files with libpng. Use decode_image().

bool is_png(std::string_view bytes);  // by its first bytes

// For animations, returns the default image.
Image decode_png(std::string_view bytes, const std::string& name, const ImageLimits& limits);

// Encodes PNG files.

std::string encode_png(const Image& image);

}  // namespace ounce::data
