// Quantization groups: which elements of a weight share a scale.
//
// A weight is read as `panels` matrices [outer, channels, inner], one after another, and element
// (panel, o, channel, i) belongs to the group panel * channels + channel:
//
//   per tensor                        1 panel,    outer 1,  channels 1,    inner = all
//   Conv, Gemm with transB: rows      1 panel,    outer 1,  channels = M,  inner = the rest
//   MatMul, Gemm: columns             1 panel,    outer K,  channels = N,  inner 1
//   ConvTranspose [C, M/group, k]     1 panel,    outer C,  channels = M/group, inner = k
//   blocks of B along the rows of K   K/B panels, outer B,  channels = N,  inner 1
//   blocks of B inside each row       1 panel,    outer 1,  channels = M·K/B, inner B
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/thread_pool.h"
#include "quant/float_source.h"

namespace ounce::quant {

struct Layout {
  std::size_t panels = 1, outer = 1, channels = 1, inner = 1;

  std::size_t groups() const { return panels * channels; }
  std::size_t panel_size() const { return outer * channels * inner; }
  std::size_t size() const { return panels * panel_size(); }
  // True if each group is contiguous in memory.
  bool has_contiguous_groups() const { return outer == 1; }
};

// A part of a contiguous range: either `rows` rows of `length` elements in which column c belongs to group +
// c, or `rows` runs of `length` elements in which run r belongs to group + r.
struct Segment {
  enum class Kind { kColumns, kRuns } kind;
  std::size_t first, rows, length, group;
};

// Splits the elements [first, first + count) into segments, in order.
template <class Visit>
void for_each_segment(const Layout& layout, std::size_t first, std::size_t count, Visit visit) {
  const std::size_t width = layout.inner == 1 ? layout.channels : layout.inner;
  const std::size_t rows_per_panel = layout.inner == 1 ? layout.outer : layout.outer * layout.channels;
  while (count > 0) {
    const std::size_t row = first / width, column = first % width;
    const std::size_t panel = row / rows_per_panel, row_in_panel = row % rows_per_panel;
    std::size_t rows = 1, length = width - column;
    if (column != 0 || count < width) {
      length = length < count ? length : count;
    } else {
      const std::size_t left = rows_per_panel - row_in_panel;
      rows = count / width < left ? count / width : left;
    }
    if (layout.inner == 1) {
      visit(Segment{Segment::Kind::kColumns, first, rows, length, panel * layout.channels + column});
    } else {
      // Runs cycle through the channels for every `outer`.
      const std::size_t channel = row_in_panel % layout.channels;
      rows = rows < layout.channels - channel ? rows : layout.channels - channel;
      visit(Segment{Segment::Kind::kRuns, first, rows, length, panel * layout.channels + channel});
    }
    first += rows * length;
    count -= rows * length;
  }
}

// Splits a weight into steps for the threads: tiles that fit a core's cache. The split does not depend on the
// number of threads, so neither do results.

inline constexpr std::size_t kTile = std::size_t{1} << 18;       // elements: 1 MiB of binary32
inline constexpr std::size_t kPanelWidth = 1024;                 // columns: a page of binary32
inline constexpr std::size_t kResident = std::size_t{16} << 20;  // limit for elements in memory at once

// The size of tiles with whole runs of `inner` elements, if these fit, and an even number of elements.
inline std::size_t tile_size(std::size_t inner) {
  return 2 * inner <= kTile ? kTile / (2 * inner) * (2 * inner) : kTile;
}

inline std::size_t tile_count(const FloatSource& source, std::size_t tile_elements) {
  return (source.size() + tile_elements - 1) / tile_elements;
}

// Visits contiguous elements, for steps that write in order.
inline void for_each_tile(
    const FloatSource& source, std::size_t tile_elements, const ForEach& for_each,
    const std::function<void(std::size_t tile, std::size_t first, std::size_t count)>& run) {
  const std::size_t size = source.size();
  for_each(tile_count(source, tile_elements), [&](std::size_t tile) {
    const std::size_t first = tile * tile_elements, count = std::min(tile_elements, size - first);
    run(tile, first, count);
    source.release(first, count);
  });
}

// Whole groups, for steps that need all values of a group: `channels` channels from `channel` on in one
// panel.
struct GroupTile {
  std::size_t panel, channel, channels;
};

// Visits the runs of a tile (inner > 1) in pieces that fit: `runs` whole runs, or a part of a single long
// run.
template <class Visit>
void for_each_run(const FloatSource& source, const Layout& layout, const GroupTile& tile, Visit visit) {
  for (std::size_t o = 0; o < layout.outer; ++o) {
    const std::size_t first =
        tile.panel * layout.panel_size() + (o * layout.channels + tile.channel) * layout.inner;
    const bool is_long = tile.channels == 1 && layout.inner > kTile;
    const std::size_t step = is_long ? kTile : layout.inner;
    for (std::size_t at = 0; at < layout.inner; at += step) {
      visit(first + at, tile.channels, std::min(step, layout.inner - at));
      if (is_long) source.release(first + at, std::min(step, layout.inner - at));
    }
  }
}

inline void for_each_group_tile(const FloatSource& source, const Layout& layout, const ForEach& for_each,
                                const std::function<void(const GroupTile&)>& run) {
  const std::size_t group = layout.outer * layout.inner;
  std::size_t channels = std::max<std::size_t>(1, kTile / std::max<std::size_t>(1, group));
  if (!layout.has_contiguous_groups())
    channels = std::max(channels, (kPanelWidth + layout.inner - 1) / layout.inner);
  channels = std::min(channels, layout.channels);
  const std::size_t tiles_per_panel = (layout.channels + channels - 1) / channels;
  // If a panel has few tiles and there are many panels (small blocks), a step takes several panels.
  const std::size_t panels =
      std::max<std::size_t>(1, kTile / std::max<std::size_t>(1, channels * group) / tiles_per_panel);
  const std::size_t steps = (layout.panels + panels - 1) / panels * tiles_per_panel;
  for_each(steps, [&](std::size_t step) {
    const std::size_t channel = step % tiles_per_panel * channels;
    const std::size_t first_panel = step / tiles_per_panel * panels;
    const std::size_t last_panel = std::min(layout.panels, first_panel + panels);
    for (std::size_t panel = first_panel; panel < last_panel; ++panel) {
      run({panel, channel, std::min(channels, layout.channels - channel)});
    }
    if (layout.has_contiguous_groups()) {
      source.release(
          (first_panel * layout.channels + channel) * group,
          ((last_panel - 1 - first_panel) * layout.channels + std::min(channels, layout.channels - channel)) *
              group);
    } else if (layout.panel_size() > kResident) {
      source.release();
    }
  });
  if (!layout.has_contiguous_groups()) source.release();
}

}  // namespace ounce::quant
