// Resizing of the last two dimensions, and cropping.
#include <algorithm>
#include <cmath>

#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// For each output position of one dimension: the two neighboring inputs, and the weight of the second.
struct Grid {
  std::vector<std::size_t> low, high;
  std::vector<float> share;

  void add(double at, std::int64_t in) {
    const double inside = std::clamp(at, 0.0, static_cast<double>(in - 1));
    const double floor = std::floor(inside);
    low.push_back(static_cast<std::size_t>(floor));
    high.push_back(static_cast<std::size_t>(std::min(floor + 1, static_cast<double>(in - 1))));
    share.push_back(static_cast<float>(inside - floor));
  }
};

template <class At>
Grid grid_of(const Call& call, std::int64_t in, std::int64_t out, const At& at) {
  call.require(in > 0, "x is empty");
  call.require(out > 0 && out <= (1 << 24), "the new size is out of range");
  Grid grid;
  for (std::int64_t position = 0; position < out; ++position) grid.add(at(static_cast<double>(position)), in);
  return grid;
}

Array interpolate(const Call& call, const Grid& rows, const Grid& columns) {
  const Array& x = call.floats("x");
  Dims dims = x.dims;
  const auto height = static_cast<std::size_t>(dims[dims.size() - 2]),
             width = static_cast<std::size_t>(dims.back());
  dims[dims.size() - 2] = static_cast<std::int64_t>(rows.low.size());
  dims.back() = static_cast<std::int64_t>(columns.low.size());
  const std::size_t planes = product_of(x.dims, 0, x.rank() - 2);
  Array out = Array::floats(x.type, dims);
  std::size_t into = 0;
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::size_t r = 0; r < rows.low.size(); ++r) {
      const float *above = &x.f[(plane * height + rows.low[r]) * width],
                  *below = &x.f[(plane * height + rows.high[r]) * width];
      for (std::size_t c = 0; c < columns.low.size(); ++c) {
        const std::size_t left = columns.low[c], right = columns.high[c];
        const float top = above[left] + (above[right] - above[left]) * columns.share[c];
        const float bottom = below[left] + (below[right] - below[left]) * columns.share[c];
        out.f[into++] = top + (bottom - top) * rows.share[r];
      }
    }
  return out;
}

struct Sizes {
  std::int64_t height, width, new_height, new_width;
};

Sizes sizes_of(const Call& call, bool by_scale) {
  const Array& x = call.floats("x");
  call.require(x.rank() >= 3 && x.size() > 0, "x has fewer than 3 dimensions or no elements");
  Sizes sizes{x.dims[x.rank() - 2], x.dims.back(), 0, 0};
  const auto scaled = [&](const char* input, std::int64_t size) {
    const double result =
        std::floor(static_cast<double>(call.number(input, 1.0F)) * static_cast<double>(size));
    call.require(result >= 1 && result <= (1 << 24), "the new size is out of range");
    return static_cast<std::int64_t>(result);
  };
  sizes.new_height =
      by_scale ? scaled("scale_factor_height", sizes.height) : call.integer("target_size_height");
  sizes.new_width = by_scale ? scaled("scale_factor_width", sizes.width) : call.integer("target_size_width");
  return sizes;
}

template <bool kByScale>
std::vector<Array> nearest(const Call& call) {
  const Sizes sizes = sizes_of(call, kByScale);
  const auto grid = [&](std::int64_t in, std::int64_t out) {
    return grid_of(call, in, out, [=](double at) {
      return std::floor(at * static_cast<double>(in) / static_cast<double>(out));
    });
  };
  return one(interpolate(call, grid(sizes.height, sizes.new_height), grid(sizes.width, sizes.new_width)));
}

std::vector<Array> upsample_bilinear(const Call& call) {
  const Sizes sizes = sizes_of(call, true);
  const bool aligns = call.flag("align_corners", true), centers = call.flag("half_pixel_centers", !aligns);
  const auto grid = [&](std::int64_t in, std::int64_t out) {
    const double from = static_cast<double>(in), to = static_cast<double>(out);
    return grid_of(call, in, out, [=](double at) {
      if (aligns) return to == 1 ? 0.0 : at * (from - 1) / (to - 1);
      return centers ? (at + 0.5) * from / to - 0.5 : at * from / to;
    });
  };
  return one(interpolate(call, grid(sizes.height, sizes.new_height), grid(sizes.width, sizes.new_width)));
}

std::vector<Array> resize_bilinear(const Call& call) {
  const Sizes sizes = sizes_of(call, false);
  const std::string mode = call.text("sampling_mode", "DEFAULT");
  call.require(mode == "DEFAULT" || mode == "STRICT_ALIGN_CORNERS" || mode == "ALIGN_CORNERS" ||
                   mode == "UNALIGN_CORNERS" || mode == "OFFSET_CORNERS",
               "unknown sampling_mode");
  const auto grid = [&](std::int64_t in, std::int64_t out) {
    const double from = static_cast<double>(in), to = static_cast<double>(out);
    return grid_of(call, in, out, [&mode, from, to](double at) {
      if (mode == "UNALIGN_CORNERS") return (at + 0.5) * from / to - 0.5;
      if (mode == "OFFSET_CORNERS") {
        const double delta = std::max(1.0, from - 1) / to;
        return 0.5 * delta + at * delta;
      }
      if (to == 1) return mode == "ALIGN_CORNERS" ? (from - 1) / 2 : 0.0;
      if (mode == "DEFAULT") return at * (from - from / to) / (to - 1);
      return at * (from - 1) / (to - 1);
    });
  };
  return one(interpolate(call, grid(sizes.height, sizes.new_height), grid(sizes.width, sizes.new_width)));
}

std::vector<Array> crop(const Call& call) {
  const Array& x = call.floats("x");
  const auto height = call.integers("crop_height"), width = call.integers("crop_width");
  call.require(x.rank() >= 2 && height.size() == 2 && width.size() == 2,
               "crop_height and crop_width must have two entries each");
  const std::int64_t rows = x.dims[x.rank() - 2], columns = x.dims.back();
  call.require(height[0] >= 0 && height[1] >= 0 && height[0] + height[1] <= rows && width[0] >= 0 &&
                   width[1] >= 0 && width[0] + width[1] <= columns,
               "the crop is larger than the image");
  Dims dims = x.dims;
  dims[dims.size() - 2] = rows - height[0] - height[1];
  dims.back() = columns - width[0] - width[1];
  Array out = Array::floats(x.type, dims);
  const auto kept = static_cast<std::size_t>(dims.back());
  std::size_t into = 0;
  for (std::size_t plane = 0; plane < product_of(x.dims, 0, x.rank() - 2); ++plane)
    for (std::int64_t row = height[0]; row < rows - height[1]; ++row, into += kept) {
      const std::int64_t from = (static_cast<std::int64_t>(plane) * rows + row) * columns + width[0];
      std::copy_n(x.f.begin() + from, kept, out.f.begin() + static_cast<std::ptrdiff_t>(into));
    }
  return one(std::move(out));
}

constexpr Operation kResizing[] = {
    {"crop", crop},
    {"resize_bilinear", resize_bilinear},
    {"resize_nearest_neighbor", nearest<false>},
    {"upsample_bilinear", upsample_bilinear},
    {"upsample_nearest_neighbor", nearest<true>},
};

}  // namespace

std::span<const Operation> resize_operations() { return kResizing; }

}  // namespace ounce::mil
