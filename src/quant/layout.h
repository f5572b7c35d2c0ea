// Which elements of a weight share a scale.
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

#include <cstddef>

namespace ounce::quant {

struct Layout {
  std::size_t panels = 1, outer = 1, channels = 1, inner = 1;

  std::size_t groups() const { return panels * channels; }
  std::size_t panel_size() const { return outer * channels * inner; }
  std::size_t size() const { return panels * panel_size(); }
  // Groups that stand side by side in memory, each in one piece.
  bool has_contiguous_groups() const { return outer == 1; }
};

// A piece of a contiguous range: either `rows` rows of `length` elements in which column c belongs to
// group + c, or `rows` runs of `length` elements in which run r belongs to group + r.
struct Segment {
  enum class Kind { kColumns, kRuns } kind;
  std::size_t first, rows, length, group;
};

// Cuts the elements [first, first + count) into segments, in order.
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
      // Runs go through the channels again for every `outer`.
      const std::size_t channel = row_in_panel % layout.channels;
      rows = rows < layout.channels - channel ? rows : layout.channels - channel;
      visit(Segment{Segment::Kind::kRuns, first, rows, length, panel * layout.channels + channel});
    }
    first += rows * length;
    count -= rows * length;
  }
}

}  // namespace ounce::quant
