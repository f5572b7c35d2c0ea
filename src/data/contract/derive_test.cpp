#include "data/contract/derive.h"

#include <gtest/gtest.h>

namespace ounce::data {
namespace {

ValueDescription input_of(ElementType type, std::vector<std::int64_t> shape) {
  ValueDescription input{"x", type, {}};
  for (const std::int64_t length : shape) input.shape.push_back({length, ""});
  return input;
}

std::string derived(ElementType type, const Dims& dims, const ValueDescription& input) {
  const auto contract = derive_contract(type, &dims, input);
  return contract ? describe(*contract) : "none";
}

TEST(Derive, FindsTheLayoutAndScaleOfPixels) {
  const ValueDescription planar = input_of(ElementType::kFloat, {-1, 3, 32, 32}),
                         interleaved = input_of(ElementType::kFloat, {-1, 32, 32, 3});
  EXPECT_EQ(derived(ElementType::kUint8, {32, 32, 3}, planar), "layout nchw, rescale 1/255");
  EXPECT_EQ(derived(ElementType::kUint8, {32, 32, 3}, interleaved), "layout nhwc, rescale 1/255");
  EXPECT_EQ(derived(ElementType::kUint8, {64, 48, 3}, planar), "layout nchw, size 32x32, rescale 1/255");
  EXPECT_EQ(derived(ElementType::kUint8, {28, 28}, input_of(ElementType::kFloat, {-1, 1, 28, 28})),
            "layout nchw, color grey, rescale 1/255");
  EXPECT_EQ(describe(*derive_contract(ElementType::kUndefined, nullptr, planar)),
            "layout nchw, size 32x32, rescale 1/255");
  EXPECT_EQ(derived(ElementType::kUint8, {32, 32, 3}, input_of(ElementType::kUint8, {-1, 3, 32, 32})),
            "layout nchw");
}

TEST(Derive, ScalesIntegersOfTheShapeOfTheInput) {
  EXPECT_EQ(derived(ElementType::kInt16, {8000}, input_of(ElementType::kFloat, {-1, 8000})),
            "rescale 1/32768");
  EXPECT_EQ(derived(ElementType::kInt16, {8000}, input_of(ElementType::kFloat, {-1, 1, 8000})),
            "rescale 1/32768");
  EXPECT_EQ(derived(ElementType::kUint8, {3, 32, 32}, input_of(ElementType::kFloat, {-1, 3, 32, 32})),
            "rescale 1/255");
}

TEST(Derive, LeavesAloneWhatItCannotKnow) {
  EXPECT_EQ(derived(ElementType::kFloat, {3, 32, 32}, input_of(ElementType::kFloat, {-1, 3, 32, 32})),
            "none");
  EXPECT_EQ(derived(ElementType::kInt64, {16}, input_of(ElementType::kInt64, {-1, -1})), "none");
  EXPECT_EQ(derived(ElementType::kUint8, {9, 9, 3}, input_of(ElementType::kFloat, {-1, 3, 9, 3})), "none");
}

TEST(Derive, MatchesArraysByTypeAndShape) {
  const ValueDescription input = input_of(ElementType::kFloat, {-1, 3, 32, 32});
  EXPECT_TRUE(fits_input(ElementType::kFloat, {3, 32, 32}, input));
  EXPECT_TRUE(fits_input(ElementType::kFloat, {1, 3, 32, 32}, input));
  EXPECT_FALSE(fits_input(ElementType::kUint8, {3, 32, 32}, input));
  EXPECT_FALSE(fits_input(ElementType::kFloat, {32, 32, 3}, input));
}

}  // namespace
}  // namespace ounce::data
