#include "base/json_text.h"

#include <fmt/format.h>
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

std::string object_with(std::size_t names) {
  std::string text = "{";
  for (std::size_t i = 0; i < names; ++i) text += fmt::format("{}\"{}\":[]", i == 0 ? "" : ",", i);
  return text + "}";
}

TEST(JsonText, ObjectsWhoseNamesWouldBeComparedForHoursAreRefused) {
  const std::string wide = object_with(1'000'000), many = fmt::format("[{}", object_with(20'000));
  std::string several = many;
  for (int i = 0; i < 3; ++i) several += "," + many.substr(1);
  EXPECT_THAT(error_of([&] { parse_json<nlohmann::ordered_json>(wide); }).what(),
              HasSubstr("too many names"));
  EXPECT_THAT(error_of([&] { parse_json<nlohmann::ordered_json>(several + "]"); }).what(),
              HasSubstr("too many names"));
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(object_with(3'000)).size(), 3'000U);
  // As many labels as a configuration may have.
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(object_with(21'841)).size(), 21'841U);
  EXPECT_EQ(parse_json<nlohmann::ordered_json>("[\"" + std::string(1'000'000, ':') + "\"]").size(), 1U);  // no names
  EXPECT_EQ(parse_json(wide).size(), 1'000'000U);  // this type sorts names
}

TEST(JsonText, SaysWhatIsWrong) {
  EXPECT_THAT(error_of([] { parse_json("{\"a\": }"); }).what(), HasSubstr("is not JSON (byte 7)"));
  EXPECT_THAT(error_of([] { parse_json("1e999"); }).what(), HasSubstr("out of range"));
  EXPECT_THAT(error_of([] { parse_json(std::string("[1]\0x", 5)); }).what(),
              HasSubstr("is not JSON (byte 4)"));
}

}  // namespace
}  // namespace ounce
