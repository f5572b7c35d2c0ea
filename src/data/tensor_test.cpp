#include "data/tensor.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST(TensorTest, CountsElements) {
  EXPECT_EQ(element_count({}, "x"), 1U);
  EXPECT_EQ(element_count({2, 3, 4}, "x"), 24U);
  EXPECT_EQ(element_count({2, 0, 4}, "x"), 0U);
  EXPECT_EQ(element_count({kHuge, kHuge, 0}, "x"), 0U);
  EXPECT_EQ(element_count({kHuge, 1}, "x"), std::uint64_t{1} << 62);
}

TEST(TensorTest, RefusesShapesThatNoMemoryHolds) {
  EXPECT_STREQ(error_of([] { element_count({2, -1}, "x"); }).what(), "x: dimension -1 is negative");
  EXPECT_STREQ(error_of([] { element_count({0, -1}, "x"); }).what(), "x: dimension -1 is negative");
  EXPECT_STREQ(error_of([] {
                 element_count({kHuge, 2}, "x");
               }).what(),
               "x: the shape [4611686018427387904,2] is too large for memory");
  EXPECT_EQ(error_of([] { element_count({kHuge, kHuge}, "x"); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(error_of([] { byte_count(ElementType::kDouble, {kHuge}, "x"); }).code(), ErrorCode::kBadInput);
}

TEST(TensorTest, CountsBytesOfPackedElements) {
  EXPECT_EQ(byte_count(ElementType::kFloat, {2, 3}, "x"), 24U);
  EXPECT_EQ(byte_count(ElementType::kBool, {}, "x"), 1U);
  EXPECT_EQ(byte_count(ElementType::kUint4, {3}, "x"), 2U);
  EXPECT_EQ(byte_count(ElementType::kUint2, {9}, "x"), 3U);
  EXPECT_EQ(byte_count(ElementType::kFloat6E2M3, {5}, "x"), 4U);
  EXPECT_EQ(byte_count(ElementType::kUint8, {kHuge}, "x"), std::uint64_t{1} << 62);
  EXPECT_EQ(byte_count(ElementType::kFloat, {0}, "x"), 0U);
}

TEST(TensorTest, DescribesTypeAndShape) {
  EXPECT_EQ(describe(ElementType::kFloat, {1, 3, 224, 224}), "float32[1,3,224,224]");
  EXPECT_EQ(describe(ElementType::kInt64, {}), "int64[]");
}

TEST(TensorTest, DescribesWhatAModelTakes) {
  ValueDescription value{"x", ElementType::kFloat, {{-1, "batch"}, {3, ""}, {-1, ""}}};
  EXPECT_EQ(describe(value), "float32[batch,3,?]");
  value.shape.clear();
  EXPECT_EQ(describe(value), "float32");
  value.element = ElementType::kUndefined;
  EXPECT_EQ(describe(value), "not a tensor");
}

TEST(SampleTest, FindsAFieldByItsName) {
  const Sample sample{"s", {{"a", {}}, {"b", {ElementType::kInt8, {1}, "x", {}}}}, 0};
  ASSERT_NE(sample.find("b"), nullptr);
  EXPECT_EQ(sample.find("b")->bytes, "x");
  EXPECT_EQ(sample.find("c"), nullptr);
}

}  // namespace
}  // namespace ounce::data
