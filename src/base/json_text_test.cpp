#include "base/json_text.h"

#include <gmock/gmock.h>

#include "support/error_of.h"

namespace ounce {
namespace {

using test::error_of;
using testing::HasSubstr;

TEST(JsonText, IsReadAsItIs) {
  EXPECT_EQ(parse_json(R"({"a": [1, "[[[\"[["]})")["a"][1], "[[[\"[[");
  EXPECT_TRUE(parse_json_or_nothing("{").is_null());
}

TEST(JsonText, IsRefusedBeforeItIsParsed) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(error_of([&] { parse_json(deep); }).what(), HasSubstr("nested more than 16 deep"));
  EXPECT_TRUE(parse_json_or_nothing(deep).is_null());
  EXPECT_NO_THROW(parse_json("[[[[1]]]]", {.depth = 4}));
  EXPECT_EQ(error_of([] { parse_json("[[[[1]]]]", {.depth = 3}); }).code(), ErrorCode::kBadInput);
  EXPECT_THAT(error_of([] { parse_json(std::string(2 << 20, ' '), {.bytes = 1 << 20}); }).what(),
              HasSubstr("longer than 1 MiB"));
}

TEST(JsonText, SaysWhatIsWrong) {
  EXPECT_THAT(error_of([] { parse_json("{\"a\": }"); }).what(), HasSubstr("is not JSON (byte 7)"));
  EXPECT_THAT(error_of([] { parse_json("1e999"); }).what(), HasSubstr("out of range"));
  EXPECT_THAT(error_of([] { parse_json(std::string("[1]\0x", 5)); }).what(),
              HasSubstr("is not JSON (byte 4)"));
}

}  // namespace
}  // namespace ounce
