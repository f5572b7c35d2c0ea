#include "io/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ounce::io
