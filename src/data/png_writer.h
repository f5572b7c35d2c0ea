// Pixels to the bytes of a PNG file.
#pragma once

#include <string>

#include "data/image.h"

namespace ounce::data {

std::string encode_png(const Image& image);

}  // namespace ounce::data
