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
#pragma once

#include "data/image/image.h"

namespace ounce::data {

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

}  // namespace ounce::data
