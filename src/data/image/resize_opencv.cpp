#include "data/image/image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ounce::data {
namespace {

std::size_t index(int value) { return static_cast<std::size_t>(value); }

// Rounds to nearest, halves to even, which is the default rounding mode.
int rounded(float value) { return static_cast<int>(std::lrintf(value)); }

std::uint8_t saturated(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

// Maps target positions along one axis to source positions. OpenCV computes the scale as the reciprocal of a
// reciprocal; its rounding decides whether the scale counts as an integer.
struct Axis {
  Axis(int source_size, int target_size)
      : source(source_size),
        target(target_size),
        inverse_scale(static_cast<double>(target_size) / source_size),
        scale(1.0 / inverse_scale) {}

  int whole_scale() const { return static_cast<int>(std::lrint(scale)); }
  bool is_whole() const { return std::abs(scale - whole_scale()) < std::numeric_limits<double>::epsilon(); }

  int source, target;
  double inverse_scale, scale;
};

// ---- nearest ----

std::vector<int> nearest_positions(const Axis& axis) {
  std::vector<int> positions(index(axis.target));
  for (int i = 0; i < axis.target; ++i)
    positions[index(i)] = std::min(static_cast<int>(std::floor(i * axis.scale)), axis.source - 1);
  return positions;
}

void resize_nearest(const Image& image, const Axis& across, const Axis& down, Image& result) {
  const std::vector<int> columns = nearest_positions(across);
  std::uint8_t* into = result.pixels.data();
  for (const int y : nearest_positions(down)) {
    const std::uint8_t* row = image.pixels.data() + index(y) * row_bytes(image);
    for (const int x : columns) into = std::copy_n(row + index(x * image.channels), image.channels, into);
  }
}

// ---- linear and cubic ----

constexpr int kWeightBits = 11;

template <std::size_t kTaps>
struct Tap {
  int base;  // the source position left of the center
  std::array<std::int16_t, kTaps> weights;
};

template <std::size_t kTaps>
using Taps = std::vector<Tap<kTaps>>;

// A source position and the fraction to the next one.
struct Place {
  int base;
  float fraction;
};

Place centered_place(const Axis& axis, int i) {
  const auto position = static_cast<float>((i + 0.5) * axis.scale - 0.5);
  const float base = std::floor(position);
  return {static_cast<int>(base), position - base};
}

// The area method when enlarging: pixels become blocks of equal color that blend only at their borders.
Place area_place(const Axis& axis, int i) {
  const int base = static_cast<int>(std::floor(i * axis.scale));
  const auto fraction = static_cast<float>((i + 1) - (base + 1) * axis.inverse_scale);
  return {base, fraction <= 0.0F ? 0.0F : fraction - std::floor(fraction)};
}

// Clamps positions beyond the center of the first or last pixel. Columns use that pixel; rows keep their
// fraction and blend the last row with itself, which can round differently.
Place held_inside(const Axis& axis, Place place) {
  if (place.base < 0) return {0, 0.0F};
  if (place.base >= axis.source - 1) return {axis.source - 1, 0.0F};
  return place;
}

std::array<float, 2> linear_weights(float x) { return {1.0F - x, x}; }

std::array<float, 4> cubic_weights(float x) {
  constexpr float kSharpness = -0.75F;
  const float before = x + 1.0F, after = 1.0F - x;
  std::array<float, 4> weights{};
  weights[0] =
      ((kSharpness * before - 5.0F * kSharpness) * before + 8.0F * kSharpness) * before - 4.0F * kSharpness;
  weights[1] = ((kSharpness + 2.0F) * x - (kSharpness + 3.0F)) * x * x + 1.0F;
  weights[2] = ((kSharpness + 2.0F) * after - (kSharpness + 3.0F)) * after * after + 1.0F;
  weights[3] = 1.0F - weights[0] - weights[1] - weights[2];
  return weights;
}

template <std::size_t kTaps>
std::array<std::int16_t, kTaps> fixed_point(const std::array<float, kTaps>& weights) {
  std::array<std::int16_t, kTaps> fixed{};
  for (std::size_t k = 0; k < kTaps; ++k)
    fixed[k] = static_cast<std::int16_t>(rounded(weights[k] * (1 << kWeightBits)));
  return fixed;
}

template <class TapAt>
auto taps_of(const Axis& axis, TapAt&& tap_at) {
  std::vector<decltype(tap_at(0))> taps;
  taps.reserve(index(axis.target));
  for (int i = 0; i < axis.target; ++i) taps.push_back(tap_at(i));
  return taps;
}

template <std::size_t kTaps>
int tap_position(const Tap<kTaps>& tap, std::size_t k, int size) {
  return std::clamp(tap.base - static_cast<int>(kTaps) / 2 + 1 + static_cast<int>(k), 0, size - 1);
}

// Source rows resized in width and not yet rounded. Keeps the last kTaps rows, most of which the next target
// row needs again.
template <std::size_t kTaps>
class WideRows {
 public:
  WideRows(const Image& image, const Taps<kTaps>& taps) : image_(image), taps_(taps) {
    held_.fill(-1);
    for (auto& row : rows_) row.resize(taps.size() * index(image.channels));
    for (const Tap<kTaps>& tap : taps) {
      for (std::size_t k = 0; k < kTaps; ++k)
        offsets_.push_back(index(tap_position(tap, k, image.width) * image.channels));
    }
  }

  const int* row(int y) {
    const std::size_t slot = index(y) % kTaps;
    if (held_[slot] != y) {
      const std::uint8_t* source = image_.pixels.data() + index(y) * row_bytes(image_);
      image_.channels == 3 ? compute<3>(source, rows_[slot].data()) : compute<1>(source, rows_[slot].data());
      held_[slot] = y;
    }
    return rows_[slot].data();
  }

 private:
  template <std::size_t kChannels>
  void compute(const std::uint8_t* source, int* into) const {
    const std::size_t* offset = offsets_.data();
    for (const Tap<kTaps>& tap : taps_) {
      for (std::size_t c = 0; c < kChannels; ++c) {
        int sum = 0;
        for (std::size_t k = 0; k < kTaps; ++k) sum += source[offset[k] + c] * tap.weights[k];
        *into++ = sum;
      }
      offset += kTaps;
    }
  }

  const Image& image_;
  const Taps<kTaps>& taps_;
  std::vector<std::size_t> offsets_;
  std::array<int, kTaps> held_{};
  std::array<std::vector<int>, kTaps> rows_;
};

using RowPointers = std::array<const int*, 4>;

void blend_rows(const RowPointers& rows, const std::array<std::int16_t, 2>& weights, std::size_t count,
                std::uint8_t* into) {
  // Products are truncated to 16 bits before they are added, as in OpenCV's 16-bit vector instructions.
  for (std::size_t x = 0; x < count; ++x) {
    const int upper = (weights[0] * (rows[0][x] >> 4)) >> 16;
    const int lower = (weights[1] * (rows[1][x] >> 4)) >> 16;
    into[x] = static_cast<std::uint8_t>((upper + lower + 2) >> 2);
  }
}

void blend_rows(const RowPointers& rows, const std::array<std::int16_t, 4>& weights, std::size_t count,
                std::uint8_t* into) {
  // OpenCV computes groups of eight values with floats, and the rest of a row with integers.
  constexpr float kUnit = 1.0F / (1 << (2 * kWeightBits));
  std::array<float, 4> scaled{};
  for (std::size_t k = 0; k < 4; ++k) scaled[k] = weights[k] * kUnit;
  const std::size_t vectorized = count / 8 * 8;
  for (std::size_t x = 0; x < vectorized; ++x) {
    float sum = static_cast<float>(rows[3][x]) * scaled[3];
    sum = static_cast<float>(rows[2][x]) * scaled[2] + sum;
    sum = static_cast<float>(rows[1][x]) * scaled[1] + sum;
    sum = static_cast<float>(rows[0][x]) * scaled[0] + sum;
    into[x] = saturated(rounded(sum));
  }
  for (std::size_t x = vectorized; x < count; ++x) {
    int sum = 1 << (2 * kWeightBits - 1);
    for (std::size_t k = 0; k < 4; ++k) sum += rows[k][x] * weights[k];
    into[x] = saturated(sum >> (2 * kWeightBits));
  }
}

template <std::size_t kTaps>
void interpolate(const Image& image, const Taps<kTaps>& across, const Taps<kTaps>& down, Image& result) {
  WideRows<kTaps> wide(image, across);
  std::uint8_t* into = result.pixels.data();
  for (const Tap<kTaps>& tap : down) {
    RowPointers rows{};
    for (std::size_t k = 0; k < kTaps; ++k) rows[k] = wide.row(tap_position(tap, k, image.height));
    blend_rows(rows, tap.weights, row_bytes(result), into);
    into += row_bytes(result);
  }
}

void resize_linear(const Image& image, const Axis& across, const Axis& down, Place (*place)(const Axis&, int),
                   Image& result) {
  const auto tap_of = [](Place at) { return Tap<2>{at.base, fixed_point(linear_weights(at.fraction))}; };
  interpolate<2>(image, taps_of(across, [&](int i) { return tap_of(held_inside(across, place(across, i))); }),
                 taps_of(down, [&](int i) { return tap_of(place(down, i)); }), result);
}

void resize_cubic(const Image& image, const Axis& across, const Axis& down, Image& result) {
  const auto tap_on = [](const Axis& axis) {
    return [&axis](int i) {
      const Place at = centered_place(axis, i);
      return Tap<4>{at.base, fixed_point(cubic_weights(at.fraction))};
    };
  };
  interpolate<4>(image, taps_of(across, tap_on(across)), taps_of(down, tap_on(down)), result);
}

// ---- area ----

// Shrinks by integer factors: the mean of a rectangle of pixels.
void average_rectangles(const Image& image, int columns, int rows, Image& result) {
  const float share = 1.0F / static_cast<float>(columns * rows);
  const bool is_quad = columns == 2 && rows == 2;  // OpenCV rounds halves up here, but to even otherwise
  const std::size_t stride = row_bytes(image);
  std::uint8_t* into = result.pixels.data();
  for (int y = 0; y < result.height; ++y) {
    const std::uint8_t* corner = image.pixels.data() + index(y) * index(rows) * stride;
    for (int x = 0; x < result.width; ++x, corner += index(columns * image.channels)) {
      for (int c = 0; c < image.channels; ++c) {
        std::int64_t sum = 0;  // 4096 × 4096 pixels would overflow 32 bits
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < columns; ++column)
            sum += corner[index(row) * stride + index(column * image.channels + c)];
        }
        *into++ = is_quad ? saturated(static_cast<int>((sum + 2) >> 2))
                          : saturated(rounded(static_cast<float>(sum) * share));
      }
    }
  }
}

// The weight of a source pixel in a target pixel.
struct Share {
  int source;
  float weight;
};

// The shares of all target pixels in order.
struct Shares {
  std::vector<Share> shares;
  std::vector<std::size_t> ends;
};

Shares shares_of(const Axis& axis) {
  constexpr double kNothing = 1e-3;  // smaller shares are ignored
  Shares result;
  for (int i = 0; i < axis.target; ++i) {
    const double begin = i * axis.scale, end = begin + axis.scale;
    const double width = std::min(axis.scale, axis.source - begin);
    const int last = std::min(static_cast<int>(std::floor(end)), axis.source - 1);
    const int first = std::min(static_cast<int>(std::ceil(begin)), last);
    if (first - begin > kNothing)
      result.shares.push_back({first - 1, static_cast<float>((first - begin) / width)});
    for (int whole = first; whole < last; ++whole)
      result.shares.push_back({whole, static_cast<float>(1.0 / width)});
    if (end - last > kNothing)
      result.shares.push_back({last, static_cast<float>(std::min(std::min(end - last, 1.0), width) / width)});
    result.ends.push_back(result.shares.size());
  }
  return result;
}

void average_row(const std::uint8_t* row, int channels, const Shares& across, std::vector<float>& means) {
  std::fill(means.begin(), means.end(), 0.0F);
  float* mean = means.data();
  const Share* share = across.shares.data();
  for (const std::size_t end : across.ends) {
    for (; share != across.shares.data() + end; ++share)
      for (int c = 0; c < channels; ++c) mean[c] += row[share->source * channels + c] * share->weight;
    mean += channels;
  }
}

void average_areas(const Image& image, const Axis& across_axis, const Axis& down_axis, Image& result) {
  const Shares across = shares_of(across_axis), down = shares_of(down_axis);
  std::vector<float> means(row_bytes(result)), sums(means.size());
  std::uint8_t* into = result.pixels.data();
  std::size_t next = 0;
  for (const std::size_t end : down.ends) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (; next < end; ++next) {
      const Share& share = down.shares[next];
      average_row(image.pixels.data() + index(share.source) * row_bytes(image), image.channels, across,
                  means);
      for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += share.weight * means[x];
    }
    for (const float sum : sums) *into++ = saturated(rounded(sum));
  }
}

void resize_area(const Image& image, const Axis& across, const Axis& down, Image& result) {
  if (across.scale < 1.0 || down.scale < 1.0) {
    resize_linear(image, across, down, area_place, result);
  } else if (across.is_whole() && down.is_whole()) {
    average_rectangles(image, across.whole_scale(), down.whole_scale(), result);
  } else {
    average_areas(image, across, down, result);
  }
}

bool is_half(const Axis& axis) { return axis.is_whole() && axis.whole_scale() == 2; }

}  // namespace

Image resize_opencv(const Image& image, int width, int height, Interpolation interpolation) {
  check_image_size(side(width), side(height), "resized image");
  check_image_size(side(image.width), side(image.height), "image to resize");
  if (width == image.width && height == image.height) return image;
  const Axis across(image.width, width), down(image.height, height);
  Image result = blank_image(width, height, image.channels);
  switch (interpolation) {
    case Interpolation::kNearest: resize_nearest(image, across, down, result); break;
    case Interpolation::kCubic: resize_cubic(image, across, down, result); break;
    case Interpolation::kArea: resize_area(image, across, down, result); break;
    case Interpolation::kLinear:
      if (is_half(across) && is_half(down)) {  // equals the area method, with its rounding
        resize_area(image, across, down, result);
      } else {
        resize_linear(image, across, down, centered_place, result);
      }
  }
  return result;
}

}  // namespace ounce::data
