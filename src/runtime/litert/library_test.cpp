#include "runtime/litert/library.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/litert.h"

namespace ounce::runtime::litert {
namespace {

using test::error_of;
using testing::HasSubstr;

struct LitertLibrary : test::LitertTest {};
INSTANTIATE_TEST_SUITE_P(Versions, LitertLibrary, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

TEST_P(LitertLibrary, OpensOnceAndHasTheVersionOfItsFolder) {
  const auto library = Library::open(GetParam());
  EXPECT_EQ(library, Library::open(GetParam()));
  EXPECT_EQ(library->version(), GetParam().parent_path().parent_path().filename());
  EXPECT_NE(library->environment(), nullptr);
  EXPECT_EQ(library->environment(), library->environment());
}

TEST(LitertPackage, HasTheVersionOfTheFolderBesideIt) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "ai_edge_litert");
  EXPECT_EQ(package_version(folder / "ai_edge_litert"), "");
  std::filesystem::create_directories(folder / "ai_edge_litert_sdk-9.0.dist-info");
  std::filesystem::create_directories(folder / "ai_edge_litert-2.3.0.dist-info");
  EXPECT_EQ(package_version(folder / "ai_edge_litert"), "2.3.0");
}

TEST(LitertLibraryFile, AMissingOneIsAnErrorThatSaysWhatBringsIt) {
  const Error error = error_of([] { Library::open("/nowhere/libLiteRt.so"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(),
              testing::AllOf(HasSubstr("/nowhere/libLiteRt.so"), HasSubstr("pip install ai-edge-litert"),
                             HasSubstr("./setup litert")));
}

TEST(LitertLibraryFile, AnotherLibraryIsAnError) {
  const Error error = error_of([] { Library::open("libm.so.6"); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("is not a library of LiteRT"));
}

}  // namespace
}  // namespace ounce::runtime::litert
