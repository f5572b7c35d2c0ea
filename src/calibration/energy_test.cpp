#include "calibration/statistics.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <limits>

namespace ounce::calibration {
namespace {

TEST(Energy, IsTheMeanSquareOfEachColumnWithMeanOne) {
  Energy energy(2);
  energy.add(std::vector<float>{1, 3, -1, 3});
  energy.add(std::vector<float>{1, -3});
  EXPECT_EQ(energy.rows(), 3U);
  EXPECT_EQ(energy.means(), (std::vector<float>{0.2F, 1.8F}));
}

TEST(Energy, AnInputThatWasNeverSeenStillCountsALittle) {
  Energy energy(2);
  energy.add(std::vector<float>{0, 2});
  EXPECT_FLOAT_EQ(energy.means()[0], 0.01F);
}

TEST(Energy, NothingIsKnownWithoutRows) {
  EXPECT_TRUE(Energy(3).means().empty());
  Energy zeros(1);
  zeros.add(std::vector<float>{0});
  EXPECT_TRUE(zeros.means().empty());
}

TEST(Energy, LeavesOutRowsThatAreNotFinite) {
  Energy energy(1);
  energy.add(std::vector<float>{1, std::numeric_limits<float>::infinity(), std::nanf("")});
  EXPECT_EQ(energy.rows(), 1U);
}

TEST(Energy, RefusesPiecesOfRows) { EXPECT_THROW(Energy(2).add(std::vector<float>{1, 2, 3}), Error); }

}  // namespace
}  // namespace ounce::calibration
