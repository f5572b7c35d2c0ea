// The geometry between "any picture" and "the square that a model takes": resize the shorter side, cut out
// the middle.
//
//   const Size size = shortest_side_size(image.width, image.height, 256);
//   image = resize_pillow(image, size.width, size.height, Filter::kBilinear);
//   image = center_crop(image, 224, 224, CropRule::kTorchvision);
#pragma once

#include <ounce/contract.h>

#include "data/image.h"

namespace ounce::data {

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

}  // namespace ounce::data
