#include "target/ort/provider_ops.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::target {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProviderPages, AreReadLineByLine) {
  const auto pages = parse_provider_pages(
      "# a comment\n"
      "\n"
      "page some\n"
      "source: a page: of 2026\n"
      "note: slow\n"
      "types: fh\n"
      "traits: fixed-shapes quantized-ops\n"
      "Conv ConvTranspose | 2-D windows, constant weights\n"
      "com.microsoft: Gelu | | oc\n"
      "page other\n"
      "traits: bodies\n"
      "Relu");
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].provider, "some");
  EXPECT_EQ(pages[0].source, "a page: of 2026");
  EXPECT_EQ(pages[0].note, "slow");
  EXPECT_EQ(pages[0].types, "fh");
  EXPECT_TRUE(pages[0].needs_fixed_shapes && pages[0].takes_quantized_ops && !pages[0].enters_bodies);
  ASSERT_EQ(pages[0].ops.size(), 2U);
  EXPECT_THAT(pages[0].ops[0].op_types, ElementsAre("Conv", "ConvTranspose"));
  EXPECT_EQ(pages[0].ops[0].condition, "2-D windows, constant weights");
  EXPECT_EQ(pages[0].ops[0].domain, "");
  EXPECT_EQ(pages[0].ops[1].domain, "com.microsoft");
  EXPECT_EQ(pages[0].ops[1].condition, "");
  EXPECT_EQ(pages[0].ops[1].types, "oc");
  EXPECT_TRUE(pages[1].enters_bodies);
  EXPECT_THAT(pages[1].ops[0].op_types, ElementsAre("Relu"));
}

TEST(ProviderPages, AMistakeIsToldWithItsLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"Relu", "line 1: precedes the first page"},
      {"page a\n\ntraits: fast", "line 3: has an unknown trait"},
      {"page a\n| 2-D windows", "line 2: names no op"},
      {"page a\nConv | 2-D windows, round windows", "line 2: has an unknown condition"},
  };
  for (const auto& [text, words] : wrong) {
    const Error error = test::error_of([&] { parse_provider_pages(text); });
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(ProviderPages, ThoseOfThisProgramAreComplete) {
  for (const char* provider : {"coreml", "coreml-mlprogram", "nnapi", "qnn", "xnnpack"}) {
    const ProviderPage* page = find_provider_page(provider);
    ASSERT_NE(page, nullptr) << provider;
    EXPECT_FALSE(page->source.empty() || page->note.empty() || page->types.empty()) << provider;
    EXPECT_GE(page->ops.size(), 9U) << provider;
  }
  EXPECT_EQ(find_provider_page("cuda"), nullptr);
}

}  // namespace
}  // namespace ounce::target
