// Resizing as OpenCV's cv2.resize(image, (width, height), interpolation=...) does it for 8-bit pixels.
//
//   const Image small = resize_opencv(image, 640, 640, Interpolation::kLinear);
//
// Nearest, linear and area are bit-exact. Cubic is bit-exact with OpenCV's own code for x86-64; its packages
// for pip call Intel's IPP for cubic where the processor allows it, and that differs by at most 1 in some
// pixels. Only area averages when it shrinks; the others look at the nearest 1, 4 or 16 pixels and skip the
// rest.
#pragma once

#include "data/image/image.h"

namespace ounce::data {

enum class Interpolation { kNearest, kLinear, kCubic, kArea };  // cv2.INTER_NEAREST, ...

// Throws Error{kBadInput} for a size that no image may have (image.h).
Image resize_opencv(const Image& image, int width, int height, Interpolation interpolation);

}  // namespace ounce::data
