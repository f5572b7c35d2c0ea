#include <gtest/gtest.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/quantize.h>
#include <ounce/search.h>

#include <set>

namespace ounce {
namespace {

template <class Enum>
class NamesTest : public testing::Test {};

using Enums =
    testing::Types<Arithmetic, StoredAs, Decoder, Format, DecoderChoice, GranularityKind, ScaleMethod,
                   Rounding, ExternalData, CalibrationMethod, Dialect, ActivationType, WeightType,
                   OptimizationLevel, InputKind, ColorOrder, ImageLayout, ResizeBackend, CropRule, OrtStyle,
                   MetricUnit, Grouping, Objective, Rewrite, Verdict, ModelFamily, SizeClass, AdviceVerdict>;
TYPED_TEST_SUITE(NamesTest, Enums);

TYPED_TEST(NamesTest, EveryValueHasANameOfItsOwnAndIsFoundByIt) {
  std::set<std::string> names;
  int number = 0;
  for (const auto& [value, name] : NamesOf<TypeParam>::kAll) {
    EXPECT_EQ(static_cast<int>(value), number++) << name << " is not in the order of the enum";
    EXPECT_TRUE(names.insert(name).second) << name << " stands for two values";
    EXPECT_STREQ(name_of(value), name);
    EXPECT_EQ(from_name<TypeParam>(name), value);
  }
  EXPECT_EQ(names_of<TypeParam>().size(), names.size());
  for (const std::string& alias : aliases_of<TypeParam>()) {
    EXPECT_TRUE(names.insert(alias).second) << alias << " is a name of its own, or stands for two values";
    EXPECT_NE(name_of(from_name<TypeParam>(alias).value()), alias);
  }
  EXPECT_EQ(from_name<TypeParam>("no such name"), std::nullopt);
  EXPECT_EQ(from_name<TypeParam>(""), std::nullopt);
}

}  // namespace
}  // namespace ounce
