#include "app/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/failure.h"
#include "data/image/image.h"

namespace ounce::app {
namespace {

struct Rgb {
  std::uint8_t red, green, blue;
};

// Numbers with 16 bits behind the point, rounded to nearest: libjpeg's.
constexpr int kPoint = 16;
constexpr int fixed(double value) { return static_cast<int>(value * (1 << kPoint) + 0.5); }
constexpr int kHalf = 1 << (kPoint - 1);

std::uint8_t clamped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

Rgb from_full(int y, int blue, int red) {
  const int cb = blue - 128, cr = red - 128;
  return {clamped(y + ((fixed(1.402) * cr + kHalf) >> kPoint)),
          clamped(y + ((-fixed(0.34414) * cb - fixed(0.71414) * cr + kHalf) >> kPoint)),
          clamped(y + ((fixed(1.772) * cb + kHalf) >> kPoint))};
}

Rgb from_limited(int y, int blue, int red) {
  const int base = fixed(255.0 / 219) * (y - 16), cb = blue - 128, cr = red - 128;
  return {clamped((base + fixed(1.596027) * cr + kHalf) >> kPoint),
          clamped((base - fixed(0.391762) * cb - fixed(0.812968) * cr + kHalf) >> kPoint),
          clamped((base + fixed(2.017232) * cb + kHalf) >> kPoint)};
}

int bytes_a_pixel(PixelFormat format) {
  switch (format) {
    case PixelFormat::kRgba:
    case PixelFormat::kBgra: return 4;
    case PixelFormat::kRgb:
    case PixelFormat::kBgr: return 3;
    default: return 1;  // grey, and the brightness of NV12 and NV21
  }
}

bool is_yuv(PixelFormat format) { return format == PixelFormat::kNv12 || format == PixelFormat::kNv21; }

// Reads a pixel where it lies.
class Reader {
 public:
  explicit Reader(const Pixels& pixels)
      : pixels_(pixels), step_(static_cast<std::size_t>(bytes_a_pixel(pixels.format))) {
    const auto width = static_cast<std::size_t>(pixels.width);
    strides_ = {pixels.strides[0] != 0 ? pixels.strides[0] : width * step_,
                pixels.strides[1] != 0 ? pixels.strides[1] : (width + 1) / 2 * 2};
    if (strides_[0] < width * step_ || (is_yuv(pixels.format) && strides_[1] < (width + 1) / 2 * 2))
      throw Failure(Status::kUsage,
                    fmt::format("rows of {} bytes are too short for {} pixels", pixels.strides[0], width));
  }

  Rgb at(int x, int y) const {
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    const std::uint8_t* const first = pixels_.planes[0] + row * strides_[0] + column * step_;
    switch (pixels_.format) {
      case PixelFormat::kRgba:
      case PixelFormat::kRgb: return {first[0], first[1], first[2]};
      case PixelFormat::kBgra:
      case PixelFormat::kBgr: return {first[2], first[1], first[0]};
      case PixelFormat::kGrey: return {first[0], first[0], first[0]};
      case PixelFormat::kNv12:
      case PixelFormat::kNv21: break;
    }
    const std::uint8_t* const pair = pixels_.planes[1] + row / 2 * strides_[1] + column / 2 * 2;
    const bool is_red_first = pixels_.format == PixelFormat::kNv21;
    const int blue = pair[is_red_first ? 1 : 0], red = pair[is_red_first ? 0 : 1];
    return pixels_.range == YuvRange::kFull ? from_full(first[0], blue, red)
                                            : from_limited(first[0], blue, red);
  }

 private:
  const Pixels& pixels_;
  std::size_t step_;
  std::array<std::size_t, 2> strides_{};
};

void require_pixels(const Pixels& pixels) {
  if (pixels.planes[0] == nullptr || (is_yuv(pixels.format) && pixels.planes[1] == nullptr))
    throw Failure(Status::kUsage, "an image without pixels");
  if (pixels.rotation % 90 != 0 || pixels.rotation < 0 || pixels.rotation > 270)
    throw Failure(Status::kUsage,
                  fmt::format("a rotation of {} degrees; it is 0, 90, 180 or 270", pixels.rotation));
  as_failures(Status::kUsage,
              [&] { data::check_image_size(data::side(pixels.width), data::side(pixels.height), "image"); });
}

}  // namespace

data::Tensor upright(const Pixels& pixels) {
  require_pixels(pixels);
  const Reader reader(pixels);
  const bool lies = pixels.rotation == 90 || pixels.rotation == 270;
  const int width = lies ? pixels.height : pixels.width, height = lies ? pixels.width : pixels.height;
  const bool is_grey = pixels.format == PixelFormat::kGrey;
  data::Tensor made{ElementType::kUint8, {height, width}, {}};
  if (!is_grey) made.dims.push_back(3);
  made.bytes.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * (is_grey ? 1 : 3));
  auto* out = reinterpret_cast<std::uint8_t*>(made.bytes.data());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      // Where this pixel of the upright picture lies: a turn clockwise takes the left column to the top.
      const std::pair<int, int> from = pixels.rotation == 0     ? std::pair(x, y)
                                       : pixels.rotation == 90  ? std::pair(y, width - 1 - x)
                                       : pixels.rotation == 180 ? std::pair(width - 1 - x, height - 1 - y)
                                                                : std::pair(height - 1 - y, x);
      const Rgb color = reader.at(from.first, from.second);
      *out++ = color.red;
      if (is_grey) continue;
      *out++ = color.green;
      *out++ = color.blue;
    }
  }
  return made;
}

}  // namespace ounce::app
