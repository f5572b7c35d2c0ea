#include "quant/layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace ounce::quant {
namespace {

// The definition, for a single element.
std::size_t group_of(const Layout& layout, std::size_t element) {
  const std::size_t panel = element / layout.panel_size();
  return panel * layout.channels + element / layout.inner % layout.channels;
}

const std::vector<Layout> kTensorLayouts = {
    {1, 1, 1, 60},  // per tensor
    {1, 1, 6, 10},  // rows
    {1, 10, 6, 1},  // columns
    {1, 3, 4, 5},   // ConvTranspose
    {5, 4, 3, 1},   // blocks down columns
    {1, 1, 60, 1},  // a scale for each element
};

TEST(Layout, SegmentsCoverEveryRangeOnceWithTheRightGroups) {
  for (const Layout& layout : kTensorLayouts) {
    ASSERT_EQ(layout.size(), 60U);
    for (std::size_t first = 0; first <= 60; ++first) {
      for (std::size_t count = 0; first + count <= 60; ++count) {
        std::size_t next = first;
        for_each_segment(layout, first, count, [&](const Segment& segment) {
          EXPECT_EQ(segment.first, next);
          for (std::size_t row = 0; row < segment.rows; ++row) {
            for (std::size_t i = 0; i < segment.length; ++i, ++next) {
              const std::size_t offset = segment.kind == Segment::Kind::kColumns ? i : row;
              ASSERT_EQ(segment.group + offset, group_of(layout, next));
            }
          }
        });
        ASSERT_EQ(next, first + count);
      }
    }
  }
}

}  // namespace
}  // namespace ounce::quant
