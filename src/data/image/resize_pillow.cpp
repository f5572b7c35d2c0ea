#include "data/image/image.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace ounce::data {
namespace {

// ---- filters ----

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double triangle(double x) { return std::max(1.0 - std::abs(x), 0.0); }

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double hamming(double x) {
  x = std::abs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  // Pillow uses single-precision weights here.
  return sinc(x) * (double{0.54F} + double{0.46F} * std::cos(x * std::numbers::pi));
}

double cubic(double x) {
  constexpr double kSharpness = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kSharpness + 2.0) * x - (kSharpness + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kSharpness;
  return 0.0;
}

double lanczos(double x) { return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }

struct Kernel {
  double (*value)(double);
  double radius;  // the kernel is zero beyond it
};

Kernel kernel_of(Filter filter) {
  switch (filter) {
    case Filter::kBox: return {box, 0.5};
    case Filter::kHamming: return {hamming, 1.0};
    case Filter::kBicubic: return {cubic, 2.0};
    case Filter::kLanczos: return {lanczos, 3.0};
    case Filter::kNearest:
    case Filter::kBilinear: break;
  }
  return {triangle, 1.0};
}

// ---- weights ----

// Weights are fixed-point integers with 22 fractional bits. Products with 8-bit values leave one bit for the
// sign and one for sums of positive weights above 1.
constexpr int kPrecisionBits = 32 - 8 - 2;
constexpr std::int32_t kHalf = std::int32_t{1} << (kPrecisionBits - 1);

// The source values of one result.
struct Window {
  int first;
  int count;
  std::size_t weights;  // their offset in Weights::values
};

struct Weights {
  std::vector<Window> windows;  // one per result
  std::vector<std::int32_t> values;
};

std::int32_t fixed_point(double weight) {
  const double scaled = weight * (1 << kPrecisionBits);
  return static_cast<std::int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

int truncated(double value) { return static_cast<int>(value); }

Weights weights_of(int source, int target, const Kernel& kernel) {
  const double scale = static_cast<double>(source) / target;
  const double stretch = std::max(scale, 1.0);
  const double inverse_stretch =
      1.0 / stretch;  // Pillow multiplies by it; a division would round differently
  const double radius = kernel.radius * stretch;
  Weights weights;
  weights.windows.reserve(static_cast<std::size_t>(target));
  std::vector<double> exact;
  for (int i = 0; i < target; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(truncated(center - radius + 0.5), 0);
    const int end = std::min(truncated(center + radius + 0.5), source);
    exact.clear();
    double sum = 0.0;
    for (int k = 0; k < end - first; ++k) {
      exact.push_back(kernel.value((k + first - center + 0.5) * inverse_stretch));
      sum += exact.back();
    }
    weights.windows.push_back({first, end - first, weights.values.size()});
    for (const double weight : exact)
      weights.values.push_back(fixed_point(sum != 0.0 ? weight / sum : weight));
  }
  return weights;
}

std::uint8_t clipped(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
}

// ---- passes ----

void resize_grey_row(const std::uint8_t* row, const Weights& weights, std::uint8_t* result) {
  for (const Window& window : weights.windows) {
    const std::int32_t* weight = weights.values.data() + window.weights;
    const std::uint8_t* pixel = row + window.first;
    std::int32_t sum = kHalf;
    for (int k = 0; k < window.count; ++k) sum += pixel[k] * weight[k];
    *result++ = clipped(sum);
  }
}

// Three named sums, which the compiler keeps in registers, unlike an array.
void resize_rgb_row(const std::uint8_t* row, const Weights& weights, std::uint8_t* result) {
  for (const Window& window : weights.windows) {
    const std::int32_t* weight = weights.values.data() + window.weights;
    const std::uint8_t* pixel = row + std::size_t{3} * static_cast<std::size_t>(window.first);
    std::int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int k = 0; k < window.count; ++k, pixel += 3) {
      red += pixel[0] * weight[k];
      green += pixel[1] * weight[k];
      blue += pixel[2] * weight[k];
    }
    *result++ = clipped(red);
    *result++ = clipped(green);
    *result++ = clipped(blue);
  }
}

struct Rows {
  int first, end;
};

// Resizes only the rows that the second pass reads; the others are 0.
Image resize_width(const Image& image, int width, const Kernel& kernel, Rows rows) {
  const Weights weights = weights_of(image.width, width, kernel);
  Image result = blank_image(width, image.height, image.channels);
  for (int y = rows.first; y < rows.end; ++y) {
    const std::uint8_t* row = image.pixels.data() + static_cast<std::size_t>(y) * row_bytes(image);
    std::uint8_t* into = result.pixels.data() + static_cast<std::size_t>(y) * row_bytes(result);
    image.channels == 3 ? resize_rgb_row(row, weights, into) : resize_grey_row(row, weights, into);
  }
  return result;
}

Image resize_height(const Image& image, int height, const Weights& weights) {
  Image result = blank_image(image.width, height, image.channels);
  const std::size_t stride = row_bytes(image);
  std::vector<std::int32_t> sums(stride);
  std::uint8_t* into = result.pixels.data();
  for (const Window& window : weights.windows) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const std::uint8_t* row = image.pixels.data() + static_cast<std::size_t>(window.first) * stride;
    for (int k = 0; k < window.count; ++k, row += stride) {
      const std::int32_t weight = weights.values[window.weights + static_cast<std::size_t>(k)];
      for (std::size_t x = 0; x < stride; ++x) sums[x] += row[x] * weight;
    }
    into = std::transform(sums.begin(), sums.end(), into, clipped);
  }
  return result;
}

Image resample(const Image& image, int width, int height, const Kernel& kernel) {
  const Weights vertical = weights_of(image.height, height, kernel);
  const Rows needed = {vertical.windows.front().first,
                       vertical.windows.back().first + vertical.windows.back().count};
  if (width == image.width) return resize_height(image, height, vertical);
  Image wide = resize_width(image, width, kernel, needed);
  return height == image.height ? wide : resize_height(wide, height, vertical);
}

// ---- nearest ----

// Positions are accumulated step by step, including rounding errors, as in Pillow. If a position exceeds the
// source, the result is -1 and the pixel is black.
std::vector<int> nearest_positions(int source, int target) {
  const double step = static_cast<double>(source) / target;
  double position = step * 0.5;
  std::vector<int> positions(static_cast<std::size_t>(target));
  for (int& nearest : positions) {
    nearest = position < source ? static_cast<int>(position) : -1;
    position += step;
  }
  return positions;
}

Image resize_nearest(const Image& image, int width, int height) {
  const std::vector<int> columns = nearest_positions(image.width, width);
  const std::vector<int> rows = nearest_positions(image.height, height);
  Image result = blank_image(width, height, image.channels);
  std::uint8_t* into = result.pixels.data();
  for (const int y : rows) {
    for (const int x : columns) {
      if (x >= 0 && y >= 0) {
        const auto column = static_cast<std::size_t>(x) * static_cast<std::size_t>(image.channels);
        const auto row = static_cast<std::size_t>(y) * row_bytes(image);
        std::copy_n(image.pixels.data() + row + column, image.channels, into);
      }
      into += image.channels;
    }
  }
  return result;
}

}  // namespace

Image resize_pillow(const Image& image, int width, int height, Filter filter) {
  check_image_size(side(width), side(height), "resized image");
  check_image_size(side(image.width), side(image.height), "image to resize");
  if (width == image.width && height == image.height) return image;
  if (filter == Filter::kNearest) return resize_nearest(image, width, height);
  check_image_size(side(width), side(image.height), "image resized in its width");
  return resample(image, width, height, kernel_of(filter));
}

}  // namespace ounce::data
