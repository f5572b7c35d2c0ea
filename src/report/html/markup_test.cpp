#include "report/html/section.h"

#include <gmock/gmock.h>

namespace ounce::report::html {
namespace {

TEST(Markup, TextOfOthersIsNoMarkup) {
  EXPECT_EQ(text("a < b & \"c\" > 'd'").html(), "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(element("p", text("</p><script>")).html(), "<p>&lt;/p&gt;&lt;script&gt;</p>");
}

TEST(Markup, AttributesCannotEnd) {
  EXPECT_EQ(lone_element("img", {{"alt", "\" onerror=\"x"}}).html(), "<img alt=\"&quot; onerror=&quot;x\"/>");
}

TEST(Markup, NothingTurnsTheDirectionOrHides) {
  const std::string html = text(
                               "a\xe2\x80\xae"
                               "b\x1b[31m\n\x01"
                               "c\xff")
                               .html();
  EXPECT_EQ(html, "a\\u202eb\\x1b[31m\\n\\x01c\\xff");
}

TEST(Markup, LongNamesAreCut) {
  EXPECT_LT(text(std::string(1'000'000, 'x')).html().size(), 300U);
  EXPECT_EQ(whole_text(std::string(1000, 'x')).html().size(), 1000U);
}

TEST(Markup, CoordinatesAreShort) {
  EXPECT_EQ(coordinate(1), "1");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(12.345), "12.35");
  EXPECT_EQ(coordinate(0.0 / 0.0), "0");
}

}  // namespace
}  // namespace ounce::report::html
