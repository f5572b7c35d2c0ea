#include "formats/onnx/plan/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ounce::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnreadFields, NothingIsSaidOfARecipeAsItComes) {
  for (const Format format : {Format::kW8, Format::kFp16, Format::kDynamic, Format::kStatic}) {
    Recipe recipe;
    recipe.format = format;
    EXPECT_THAT(unread_fields(recipe), IsEmpty()) << name_of(format);
  }
}

TEST(UnreadFields, AFieldIsNamedWhereItsFormatIsNotChosen) {
  Recipe recipe;
  recipe.integer.calibration = CalibrationMethod::kMse;
  recipe.integer.reduce_range = true;
  recipe.integer.search = false;
  EXPECT_THAT(
      unread_fields(recipe),
      ElementsAre(
          "`integer.reduce_range` is for `format=static` and `format=dynamic`: it changes nothing here",
          "`integer.calibration` is for `format=static`: it changes nothing here",
          "`integer.search=false` is for `format=static`: it changes nothing here"));
  recipe.format = Format::kDynamic;
  EXPECT_THAT(unread_fields(recipe),
              ElementsAre("`integer.calibration` is for `format=static`: it changes nothing here",
                          "`integer.search=false` is for `format=static`: it changes nothing here"));
  recipe.format = Format::kStatic;
  EXPECT_THAT(unread_fields(recipe), IsEmpty());
}

}  // namespace
}  // namespace ounce::plan
