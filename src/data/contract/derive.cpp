#include "data/contract/derive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ounce::data {
namespace {

constexpr double kPixels = 255, kSound = 32768;

bool is_channels(std::int64_t length) { return length == 1 || length == 3; }

std::vector<std::int64_t> lengths_of(const ValueDescription& input) {
  std::vector<std::int64_t> lengths;
  for (const auto& dimension : input.shape) lengths.push_back(dimension.value);
  return lengths;
}

bool is_float(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kDouble;
}

// An input [N,C,H,W] or [N,H,W,C] that takes images.
std::optional<InputContract> image_for(const Dims* dims, const ValueDescription& input) {
  const std::vector<std::int64_t> shape = lengths_of(input);
  if (shape.size() != 4 || is_channels(shape[1]) == is_channels(shape[3])) return std::nullopt;
  InputContract image;
  image.kind = InputKind::kImage;
  image.layout = is_channels(shape[1]) ? ImageLayout::kNchw : ImageLayout::kNhwc;
  const bool is_planar = image.layout == ImageLayout::kNchw;
  const std::int64_t channels = shape[is_planar ? 1 : 3], height = shape[is_planar ? 2 : 1],
                     width = shape[is_planar ? 3 : 2];
  if (channels == 1) image.color_order = ColorOrder::kGrey;
  const bool has_size = dims != nullptr && dims->size() >= 2;
  if (height > 0 && width > 0 && (!has_size || (*dims)[0] != height || (*dims)[1] != width)) {
    image.height = height;
    image.width = width;
  }
  if (is_float(input.element)) image.rescale_factor = 1 / kPixels;
  return image;
}

}  // namespace

bool fits_input(ElementType type, const Dims& dims, const ValueDescription& input, bool may_derive) {
  if (may_derive && derive_contract(type, &dims, input)) return true;
  if (type != input.element) return false;
  std::vector<std::int64_t> sample = dims, whole = lengths_of(input), inner = whole;
  if (whole.empty()) return false;
  inner.erase(inner.begin());
  // Axes of length 1 carry nothing: [8000] feeds [N,1,8000].
  for (std::vector<std::int64_t>* lengths : {&sample, &whole, &inner}) std::erase(*lengths, 1);
  const auto matches = [&](const std::vector<std::int64_t>& shape) {
    return std::equal(
        sample.begin(), sample.end(), shape.begin(), shape.end(),
        [](std::int64_t length, std::int64_t wanted) { return wanted < 0 || wanted == length; });
  };
  return matches(inner) || matches(whole);
}

std::optional<InputContract> derive_contract(ElementType type, const Dims* dims,
                                             const ValueDescription& input) {
  const bool is_pixels =
      dims == nullptr || (type == ElementType::kUint8 &&
                          (dims->size() == 2 || (dims->size() == 3 && is_channels(dims->back()))));
  if (is_pixels && (is_float(input.element) || input.element == ElementType::kUint8)) {
    if (auto image = image_for(dims, input)) return image;
  }
  if (dims == nullptr || !is_float(input.element) || !fits_input(input.element, *dims, input))
    return std::nullopt;
  InputContract tensor;
  if (type == ElementType::kUint8) tensor.rescale_factor = 1 / kPixels;
  if (type == ElementType::kInt16) tensor.rescale_factor = 1 / kSound;
  return tensor.rescale_factor ? std::optional(tensor) : std::nullopt;
}

std::string describe(const InputContract& derived) {
  std::vector<std::string> parts;
  if (derived.kind == InputKind::kImage) {
    parts.push_back(fmt::format("layout {}", name_of(derived.layout)));
    if (derived.height > 0) parts.push_back(fmt::format("size {}x{}", derived.height, derived.width));
    if (derived.color_order == ColorOrder::kGrey)
      parts.push_back(fmt::format("color {}", name_of(derived.color_order)));
  }
  if (derived.rescale_factor) parts.push_back(fmt::format("rescale 1/{:.0f}", 1 / *derived.rescale_factor));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ounce::data
