// Splits a weight into slabs: parts that contain whole groups and are contiguous in memory, so that scales
// and quantized values of one slab after another can be computed in constant memory.
//
//   for (std::size_t i = 0; i < slab_count(layout); ++i) {
//     const Slab slab = slab_at(layout, i);
//     use(slab.first, slab.count, slab.group, slab.layout);
//   }
//
// A layout whose groups are not contiguous (columns of one matrix) is a single slab.
#pragma once

#include <algorithm>
#include <cstddef>

#include "quant/layout.h"

namespace ounce::coreml {

struct Slab {
  std::size_t first = 0, count = 0, group = 0;
  quant::Layout layout;
};

// The number of groups per slab is a multiple of this, so that scales and packed zero points of a slab are
// whole bytes, and so are its packed values.
inline constexpr std::size_t kSlabGroups = 8;

struct SlabSizes {
  bool has_rows = false;  // the unit is one group, else one panel
  std::size_t unit = 0, units = 0, units_per_slab = 0;
};

inline SlabSizes slab_sizes(const quant::Layout& layout) {
  SlabSizes sizes;
  sizes.has_rows = layout.outer == 1;
  sizes.unit = sizes.has_rows ? layout.inner : layout.panel_size();
  sizes.units = sizes.has_rows ? layout.groups() : layout.panels;
  const std::size_t fitting = quant::kTile / std::max<std::size_t>(1, sizes.unit) / kSlabGroups;
  sizes.units_per_slab = std::max<std::size_t>(1, fitting) * kSlabGroups;
  return sizes;
}

inline std::size_t slab_count(const quant::Layout& layout) {
  const SlabSizes sizes = slab_sizes(layout);
  return (sizes.units + sizes.units_per_slab - 1) / sizes.units_per_slab;
}

inline Slab slab_at(const quant::Layout& layout, std::size_t index) {
  const SlabSizes sizes = slab_sizes(layout);
  const std::size_t unit = index * sizes.units_per_slab;
  const std::size_t units = std::min(sizes.units_per_slab, sizes.units - unit);
  Slab slab;
  slab.first = unit * sizes.unit;
  slab.count = units * sizes.unit;
  slab.group = sizes.has_rows ? unit : unit * layout.channels;
  slab.layout = sizes.has_rows ? quant::Layout{1, 1, units, layout.inner}
                               : quant::Layout{units, layout.outer, layout.channels, layout.inner};
  return slab;
}

inline std::size_t slab_index(const quant::Layout& layout, const Slab& slab) {
  const SlabSizes sizes = slab_sizes(layout);
  return slab.first / (sizes.unit * sizes.units_per_slab);
}

}  // namespace ounce::coreml
