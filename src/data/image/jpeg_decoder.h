// JPEG files to RGB pixels, through libjpeg; decode_image() in image.h is the way in.
#pragma once

#include <string>
#include <string_view>

#include "data/image/image.h"

namespace ounce::data {

bool is_jpeg(std::string_view bytes);  // by its first bytes

// A CMYK picture is converted as Pillow does it: as Adobe writes them (inverted), without a colour profile.
Image decode_jpeg(std::string_view bytes, const std::string& name, const ImageLimits& limits);

}  // namespace ounce::data
