#include "recipe/format_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ounce {
namespace {

using testing::ElementsAre;

TEST(FormatInfoTest, EveryRowAgreesWithItself) {
  for (const FormatInfo& row : all_formats()) {
    SCOPED_TRACE(name_of(row.format));
    EXPECT_EQ(&info_of(row.format), &row);
    EXPECT_FALSE(row.label.empty());
    EXPECT_FALSE(row.help.empty());
    EXPECT_EQ(is_integer(row.format), is_integer(row.arithmetic));
    EXPECT_EQ(is_storage(row.format), row.arithmetic == Arithmetic::kFloat);
    EXPECT_EQ(is_nbits(row.format), row.family == Family::kNbits);
    Recipe recipe;
    recipe.format = row.format;
    EXPECT_EQ(recipe.is_integer(), row.family == Family::kInteger);
    EXPECT_EQ(recipe.is_half(), row.family == Family::kHalf);
    EXPECT_GT(row.typical_size, 0);
    EXPECT_LE(row.typical_size, 1);
    EXPECT_TRUE(info_of(row.fallback).for_single_nodes);
    EXPECT_GE(info_of(row.fallback).weight_bits, row.weight_bits);
  }
}

TEST(FormatInfoTest, NamesSayWhetherInt8IsStaticAndWhereMatMulNBitsComputes) {
  for (const char* name : {"int8", "static", "int8-static"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(from_name<Format>(name), Format::kInt8);
    EXPECT_TRUE(is_static(*from_name<Format>(name)));
  }
  EXPECT_TRUE(is_dynamic(from_name<Format>("dynamic").value()));
  EXPECT_EQ(from_name<Format>("int4"), nbits(4));
  EXPECT_EQ(from_name<Format>("int2"), nbits(2));
  EXPECT_EQ(from_name<Format>("nbits8"), nbits(8));
}

TEST(FormatInfoTest, DisplayNamesHaveTheBitsOfWeightsAndActivations) {
  EXPECT_EQ(display_name(Format::kInt8), "INT8 static, W8A8");
  EXPECT_EQ(display_name(Format::kInt8Dynamic), "INT8 dynamic, W8A8");
  EXPECT_EQ(display_name(weight_only(4)), "4-bit weights, W4A32");
  EXPECT_EQ(name_and_label(nbits(8)), "nbits8 (8-bit MatMulNBits, W8A32)");
  EXPECT_EQ(display_name(Format::kFp16), "FP16, W16A16");
}

TEST(FormatInfoTest, FormatsAreFoundByWhatTheyDo) {
  EXPECT_STREQ(name_of(weight_only(4)), "w4");
  EXPECT_EQ(weight_only(5), kUnchanged);
  EXPECT_EQ(info_of(nbits(4)).family, Family::kNbits);
  EXPECT_TRUE(is_static(format_with(Arithmetic::kStatic)));
  EXPECT_THAT(formats_of(Family::kInteger),
              ElementsAre(format_with(Arithmetic::kStatic), format_with(Arithmetic::kDynamic)));
  EXPECT_EQ(wider(nbits(2)), nbits(4));
  EXPECT_EQ(wider(nbits(8)), nbits(8));
}

TEST(FormatInfoTest, EveryFormatSaysWhichModelsItIsFor) {
  for (const FormatInfo& row : all_formats()) {
    const bool is_for_tables = row.weight_bits == 6 || row.weight_bits == 3;
    EXPECT_EQ(why_not_for(ModelKind::kOnnx, row.format).empty(), has_kind(row.kinds, ModelKind::kOnnx));
    EXPECT_TRUE(!is_for_tables || row.kinds == model_kinds(ModelKind::kCoreml)) << name_of(row.format);
    const bool is_refused = !why_not_for(ModelKind::kCoreml, row.format).empty();
    EXPECT_EQ(is_refused, !has_kind(row.kinds, ModelKind::kCoreml));
  }
  EXPECT_THAT(why_not_for(ModelKind::kOnnx, Format::kW6), testing::StartsWith("is an ONNX model, which "));
  EXPECT_EQ(why_not_for(ModelKind::kCoreml, Format::kW8), "");
  EXPECT_THAT(why_not_for(ModelKind::kCoreml, Format::kInt8),
              testing::StartsWith("is a Core ML model, which cannot be quantized to int8; "));
}

}  // namespace
}  // namespace ounce
