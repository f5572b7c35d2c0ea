// JPEG files to RGB pixels, through libjpeg; decode_image() in image.h is the way in.
#pragma once

#include <string>
#include <string_view>

#include "data/image/image.h"

namespace ounce::data {

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
