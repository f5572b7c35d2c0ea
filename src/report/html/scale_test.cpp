#include "report/html/charts.h"

#include <gmock/gmock.h>

#include <limits>

namespace ounce::report::html {
namespace {

using testing::ElementsAre;
using testing::Le;
using testing::SizeIs;

TEST(Scale, TicksAreRound) {
  EXPECT_THAT(ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(-1, 1, 4), ElementsAre(-1, -0.5, 0, 0.5, 1));
}

TEST(Scale, TicksAreFewWhateverTheFiguresAre) {
  EXPECT_THAT(ticks(1, 1, 5), SizeIs(1));
  EXPECT_THAT(ticks(0, std::numeric_limits<double>::infinity(), 5), SizeIs(1));
  EXPECT_THAT(ticks(1e300, 1.0000001e300, 5), SizeIs(Le(33)));
  EXPECT_THAT(ticks(-1e308, 1e308, 5), SizeIs(Le(33)));
}

TEST(Scale, NeighboursAreToldApart) {
  EXPECT_EQ(tick_text(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_text(20, 10), "20");
  EXPECT_EQ(tick_text(-1e-12, 0.5), "0.0");
}

TEST(Scale, FiguresThatAreNearlyTheSameStayCloseTogether) {
  Extent extent;
  extent.add(26.215);
  extent.add(26.230);
  extent.span_at_least(10);
  EXPECT_NEAR(extent.low, 21.2225, 1e-9);
  EXPECT_NEAR(extent.high, 31.2225, 1e-9);
  extent.span_at_least(5);
  EXPECT_NEAR(extent.high - extent.low, 10, 1e-9);
}

TEST(Scale, APointIsWidened) {
  Extent extent;
  extent.add(3);
  extent.widen(0.1);
  EXPECT_LT(extent.low, 3);
  EXPECT_GT(extent.high, 3);
}

}  // namespace
}  // namespace ounce::report::html
