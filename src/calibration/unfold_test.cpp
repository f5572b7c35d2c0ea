#include "calibration/gram.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/error_of.h"

namespace ounce::calibration {
namespace {

using Values = std::vector<float>;
using Shape = std::vector<std::int64_t>;

Values counted(std::size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

Values row_of(const Unfolding& unfolding, const Values& values, const Shape& shape, std::uint64_t row) {
  Unfolded input(unfolding, values, shape);
  Values out(unfolding.groups() * unfolding.k());
  input.copy_row(row, out.data(), unfolding.k());
  return out;
}

std::uint64_t rows_of(const Unfolding& unfolding, const Shape& shape) {
  std::size_t size = 1;
  for (const std::int64_t length : shape) size *= static_cast<std::size_t>(length);
  const Values values(size);
  return Unfolded(unfolding, values, shape).rows();
}

TEST(Unfold, AMatrixHasItsOwnRows) {
  const auto unfolding = Unfolding::of_matrix(3);
  EXPECT_EQ(rows_of(unfolding, {2, 2, 3}), 4U);
  EXPECT_EQ(rows_of(unfolding, {3}), 1U);
  EXPECT_EQ(rows_of(unfolding, {0, 3}), 0U);
  EXPECT_EQ(row_of(unfolding, counted(12), {2, 2, 3}, 2), (Values{7, 8, 9}));
}

TEST(Unfold, PutsTheTapsOfEachChannelInTheOrderOfTheWeights) {
  const auto unfolding = Unfolding::of_convolution({.channels = 2, .kernel = {2, 2}});
  EXPECT_EQ(unfolding.k(), 8U);
  EXPECT_EQ(rows_of(unfolding, {1, 2, 3, 3}), 4U);
  EXPECT_EQ(row_of(unfolding, counted(18), {1, 2, 3, 3}, 3), (Values{5, 6, 8, 9, 14, 15, 17, 18}));
}

TEST(Unfold, HasZerosInThePadding) {
  const auto unfolding = Unfolding::of_convolution({.channels = 1, .kernel = {3, 3}, .pads = {1, 1, 1, 1}});
  EXPECT_EQ(rows_of(unfolding, {1, 1, 2, 2}), 4U);
  EXPECT_EQ(row_of(unfolding, counted(4), {1, 1, 2, 2}, 0), (Values{0, 0, 0, 0, 1, 2, 0, 3, 4}));
  EXPECT_EQ(row_of(unfolding, counted(4), {1, 1, 2, 2}, 3), (Values{1, 2, 0, 3, 4, 0, 0, 0, 0}));
}

TEST(Unfold, KnowsStridesDilationsAndUnevenPadding) {
  const auto unfolding = Unfolding::of_convolution(
      {.channels = 1, .kernel = {2}, .strides = {2}, .dilations = {3}, .pads = {1, 2}});
  // 0 [1 2 3 4 5] 0 0: dilation 3, stride 2.
  EXPECT_EQ(rows_of(unfolding, {1, 1, 5}), 3U);
  EXPECT_EQ(row_of(unfolding, counted(5), {1, 1, 5}, 0), (Values{0, 3}));
  EXPECT_EQ(row_of(unfolding, counted(5), {1, 1, 5}, 1), (Values{2, 5}));
  EXPECT_EQ(row_of(unfolding, counted(5), {1, 1, 5}, 2), (Values{4, 0}));
}

TEST(Unfold, KeepsImagesAndGroupsApart) {
  const auto unfolding = Unfolding::of_convolution({.channels = 4, .groups = 2, .kernel = {1}});
  EXPECT_EQ(unfolding.groups(), 2U);
  EXPECT_EQ(unfolding.k(), 2U);
  // Image 1, position 1 of [2, 4, 2].
  EXPECT_EQ(row_of(unfolding, counted(16), {2, 4, 2}, 3), (Values{10, 12, 14, 16}));
}

TEST(Unfold, KnowsThreeDimensions) {
  const auto unfolding =
      Unfolding::of_convolution({.channels = 1, .kernel = {2, 1, 2}, .pads = {0, 0, 0, 0, 0, 1}});
  EXPECT_EQ(rows_of(unfolding, {1, 1, 2, 2, 2}), 4U);
  EXPECT_EQ(row_of(unfolding, counted(8), {1, 1, 2, 2, 2}, 2), (Values{3, 4, 7, 8}));
  EXPECT_EQ(row_of(unfolding, counted(8), {1, 1, 2, 2, 2}, 3), (Values{4, 0, 8, 0}));
}

TEST(Unfold, OfAnInputSmallerThanTheKernelHasNoRows) {
  EXPECT_EQ(rows_of(Unfolding::of_convolution({.channels = 1, .kernel = {3}}), {1, 1, 2}), 0U);
}

TEST(Unfold, RefusesWhatIsNoConvolution) {
  const auto code_of = [](const Convolution& convolution) {
    return test::error_of([&] { Unfolding::of_convolution(convolution); }).code();
  };
  EXPECT_EQ(code_of({.channels = 1}), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {1, 1, 1, 1}}), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of({.channels = 3, .groups = 2, .kernel = {1}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 3, .groups = 0, .kernel = {1}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {0}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {3}, .strides = {0}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {3}, .strides = {1, 1}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {3}, .pads = {-1, 0}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {3}, .dilations = {INT64_MAX}}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of({.channels = 1, .kernel = {1 << 30, 1 << 30, 1 << 30}}), ErrorCode::kBadInput);
}

TEST(Unfold, RefusesShapesThatDoNotFit) {
  const Values values(12);
  const auto matrix = Unfolding::of_matrix(3);
  const auto convolution = Unfolding::of_convolution({.channels = 2, .kernel = {1, 1}});
  const auto code_of = [&](const Unfolding& unfolding, const Shape& shape) {
    return test::error_of([&] { Unfolded(unfolding, values, shape); }).code();
  };
  EXPECT_EQ(code_of(matrix, {3, 4}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of(matrix, {}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of(matrix, {5, 3}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of(matrix, {-4, -3}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of(matrix, {INT64_MAX, INT64_MAX}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of(convolution, {1, 3, 2, 2}), ErrorCode::kBadInput);
  EXPECT_EQ(code_of(convolution, {1, 2, 6}), ErrorCode::kBadInput);
  const auto wide = Unfolding::of_convolution(
      {.channels = 1, .kernel = {1, 1, 1}, .pads = Shape(6, std::int64_t{1} << 30)});
  EXPECT_EQ(code_of(wide, {1, 1, 2, 2, 3}), ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce::calibration
