// The part of image.h that needs decoders: an app, which has its pixels from a camera, does without.
#include <ounce/error.h>

#include "data/image/image.h"
#include "data/image/jpeg_decoder.h"
#include "data/image/png.h"

namespace ounce::data {
namespace {

Image decode_rgb(std::string_view bytes, const std::string& name, const ImageLimits& limits) {
  if (is_jpeg(bytes)) return decode_jpeg(bytes, name, limits);
  if (is_png(bytes)) return decode_png(bytes, name, limits);
  throw Error(ErrorCode::kBadInput, "neither a JPEG nor a PNG file; convert the image to one of them", name);
}

}  // namespace

Image decode_image(std::string_view bytes, const std::string& name, ColorMode mode,
                   const ImageLimits& limits) {
  Image rgb = decode_rgb(bytes, name, limits);
  return mode == ColorMode::kGrey ? in_grey(rgb) : rgb;
}

}  // namespace ounce::data
