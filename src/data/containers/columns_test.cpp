#include "data/containers/rows.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Columns, NamesAndRangesFollowEachOther) {
  EXPECT_THAT(columns_of("age,f8..f10", {}), ElementsAre("age", "f8", "f9", "f10"));
  EXPECT_THAT(columns_of("f08..f10", {}), ElementsAre("f08", "f09", "f10"));
}

TEST(Columns, TheLargestNumberEndsARange) {
  EXPECT_THAT(columns_of("f18446744073709551614..f18446744073709551615", {}),
              ElementsAre("f18446744073709551614", "f18446744073709551615"));
}

TEST(Columns, RangesThatMakeNoSenseAreRefused) {
  for (const auto& [text, why] :
       {std::pair{"f9..f0", "goes backwards"}, {"f0..f9999999", "is too long"}, {"a,,b", "empty name"}}) {
    const Error error = error_of([text = text] { columns_of(text, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << text;
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace ounce::data
