#include "evaluate/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/class_rows.h"
#include "data/image/image.h"
#include "data/tensor.h"

namespace ounce::evaluate {
namespace {

constexpr std::int64_t kLeastSide = 8, kMostSide = 8192;  // of an image, in pixels

struct PictureShape {
  std::size_t channels, height, width;
  bool is_channels_last;
};

bool is_side(std::int64_t size) { return size >= kLeastSide && size <= kMostSide; }

// [1, C, H, W] or [1, H, W, C]: gray, RGB, or RGB with a fourth channel.
std::optional<PictureShape> picture_shape(const data::Dims& dims) {
  if (dims.size() != 4 || dims[0] != 1) return std::nullopt;
  const auto is_channels = [](std::int64_t size) { return size == 1 || size == 3 || size == 4; };
  const auto made = [](std::int64_t channels, std::int64_t height, std::int64_t width, bool is_last) {
    return PictureShape{static_cast<std::size_t>(channels), static_cast<std::size_t>(height),
                        static_cast<std::size_t>(width), is_last};
  };
  if (is_channels(dims[1]) && is_side(dims[2]) && is_side(dims[3]))
    return made(dims[1], dims[2], dims[3], false);
  if (is_channels(dims[3]) && is_side(dims[1]) && is_side(dims[2]))
    return made(dims[3], dims[1], dims[2], true);
  return std::nullopt;
}

// All axes but the last are 1.
bool is_sound(const data::Dims& dims, std::size_t least) {
  return dims.size() >= 2 && dims.size() <= 3 &&
         std::all_of(dims.begin(), dims.end() - 1, [](auto d) { return d == 1; }) &&
         dims.back() >= static_cast<std::int64_t>(least);
}

Range range_of_floats(std::span<const float> values) {
  float low = INFINITY, high = -INFINITY;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {low, high};
}

data::Image image_of(std::span<const float> values, const PictureShape& shape, const Range& range) {
  const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
  const float scale = high > low ? 255 / (high - low) : 0;
  const std::size_t channels = shape.channels == 1 ? 1 : 3, plane = shape.height * shape.width;
  data::Image image = data::blank_image(static_cast<int>(shape.width), static_cast<int>(shape.height),
                                        static_cast<int>(channels));
  for (std::size_t pixel = 0; pixel < plane; ++pixel) {
    for (std::size_t c = 0; c < channels; ++c) {
      const float value = values[shape.is_channels_last ? pixel * shape.channels + c : c * plane + pixel];
      const float level = std::isfinite(value) ? std::clamp((value - low) * scale, 0.0F, 255.0F) : 0;
      image.pixels[pixel * channels + c] = static_cast<std::uint8_t>(std::lround(level));
    }
  }
  return image;
}

data::Image shrunk(const data::Image& image, int pixels) {
  const int longer = std::max(image.width, image.height);
  if (longer <= pixels) return image;
  const auto side = [&](int size) { return std::max(1, size * pixels / longer); };
  return data::resize_pillow(image, side(image.width), side(image.height), data::Filter::kBilinear);
}

void draw_waveform(std::span<const float> values, InputPicture& picture) {
  const std::size_t stretches = std::min(InputPicture::kStretches, values.size());
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto stretch = values.subspan(i * values.size() / stretches,
                                        (i + 1) * values.size() / stretches - i * values.size() / stretches);
    const auto [low, high] = std::minmax_element(stretch.begin(), stretch.end());
    picture.lowest.push_back(*low);
    picture.highest.push_back(*high);
  }
}

std::string little_endian(std::uint32_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
  return text;
}

// The beginning of the values as a mono WAV file. Values beyond 1 are scaled down.
std::string wav_of(std::span<const float> values, const Range& range, std::uint32_t rate) {
  constexpr std::uint32_t kHeader = 36, kBytes = 2, kBits = 16, kLargest = 32767;
  const auto count = static_cast<std::uint32_t>(std::min(values.size(), InputPicture::kMostSound));
  const double largest = std::max({1.0, std::fabs(range.low), std::fabs(range.high)});
  std::string wav = "RIFF" + little_endian(kHeader + kBytes * count, 4) + "WAVEfmt " + little_endian(16, 4) +
                    little_endian(1, 2) + little_endian(1, 2) + little_endian(rate, 4) +
                    little_endian(kBytes * rate, 4) + little_endian(kBytes, 2) + little_endian(kBits, 2) +
                    "data" + little_endian(kBytes * count, 4);
  for (const float value : values.first(count)) {
    const auto level = std::lround(std::clamp(value / largest, -1.0, 1.0) * kLargest);
    wav += little_endian(static_cast<std::uint32_t>(level), kBytes);
  }
  return wav;
}

}  // namespace

Range range_of(const data::TensorView& values, const std::string& name) {
  std::vector<float> converted;
  return range_of_floats(data::floats_of(values, converted, name));
}

std::optional<InputPicture> picture_of(const std::string& name, const data::TensorView& values,
                                       const PictureStyle& style) {
  const std::optional<PictureShape> shape = picture_shape(values.dims);
  const bool is_bytes = values.type == ElementType::kUint8;
  if (!is_float_weight_type(values.type) && !is_bytes) return std::nullopt;
  if (!shape && !is_sound(values.dims, style.least_sound)) return std::nullopt;
  std::vector<float> floats;
  data::to_floats(values, floats, name);
  InputPicture picture{name, {}};
  const Range range = style.range.value_or(range_of_floats(floats));
  if (shape) {
    picture.png = data::encode_png(shrunk(image_of(floats, *shape, range), style.pixels));
  } else {
    if (!std::all_of(floats.begin(), floats.end(), [](float value) { return std::isfinite(value); }))
      return std::nullopt;
    draw_waveform(floats, picture);
    picture.wav = wav_of(floats, range, style.rate);
  }
  return picture;
}

std::vector<ClassScore> best_answers(const data::ValueDescription& output, const data::TensorView& reference,
                                     const data::TensorView& candidate) {
  constexpr std::size_t kShown = 3;  // classes of each model
  const auto axis =
      output.is_tensor() && is_float_weight_type(output.element) ? class_axis(output) : std::nullopt;
  if (!axis || reference.dims != candidate.dims || reference.dims.size() != output.shape.size()) return {};
  std::vector<float> ours_as_floats, theirs_as_floats;
  const data::ClassRows ours(data::floats_of(reference, ours_as_floats, output.name), reference.dims, *axis),
      theirs(data::floats_of(candidate, theirs_as_floats, output.name), candidate.dims, *axis);
  if (ours.rows() != 1) return {};
  std::vector<std::size_t> classes, others;
  ours.best(0, std::min(kShown, ours.classes()), classes);
  theirs.best(0, std::min(kShown, theirs.classes()), others);
  for (const std::size_t other : others) {
    if (std::find(classes.begin(), classes.end(), other) == classes.end()) classes.push_back(other);
  }
  std::vector<ClassScore> answers;
  for (const std::size_t one : classes) answers.push_back({one, ours.score(0, one), theirs.score(0, one)});
  return answers;
}

}  // namespace ounce::evaluate
