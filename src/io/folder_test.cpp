#include "io/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/output_file.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

TEST(FolderTest, NamesFilesAndFolders) {
  const test::TemporaryFolder folder;
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_THAT(names_in(folder / "", error), testing::IsEmpty());
  EXPECT_FALSE(error);
  std::filesystem::create_directories(folder / "inner" / "most");
  test::write_file(folder / ".hidden", "");
  EXPECT_THAT(names_in(folder / "", error), testing::UnorderedElementsAre("inner", ".hidden"));
  EXPECT_FALSE(error);
}

TEST(FolderTest, SaysWhyThereIsNothing) {
  const test::TemporaryFolder folder;
  std::error_code error;
  EXPECT_THAT(names_in(folder / "none", error), testing::IsEmpty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  test::write_file(folder / "file", "");
  EXPECT_THAT(names_in(folder / "file", error), testing::IsEmpty());
  EXPECT_EQ(error, std::errc::not_a_directory);
}

TEST(FolderTest, WhetherAFolderCanBeMadeIsAskedBeforeTheWork) {
  const test::TemporaryFolder folder;
  require_folder_place(folder / "");
  require_folder_place(folder / "new" / "and" / "deeper");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  test::write_file(folder / "file", "");
  EXPECT_EQ(test::error_of([&] { require_folder_place(folder / "file" / "new"); }).code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace ounce::io
