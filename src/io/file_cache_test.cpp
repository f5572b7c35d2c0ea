#include "io/mapped_file.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

TEST(FileCacheTest, AFileThatWasDroppedReadsBackTheSame) {
  const test::TemporaryFolder folder;
  const std::string bytes(100'001, 'x');
  test::write_file(folder / "a", bytes);
  drop_from_cache(folder / "a");  // an in-memory file system keeps the file, which is not an error
  EXPECT_EQ(test::read_file(folder / "a"), bytes);
}

TEST(FileCacheTest, NothingIsDroppedOfAFileThatIsNotThereOrEmpty) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(drop_from_cache(folder / "none"));
  test::write_file(folder / "empty", "");
  EXPECT_FALSE(drop_from_cache(folder / "empty"));
  EXPECT_FALSE(drop_from_cache(folder.path()));
}

}  // namespace
}  // namespace ounce::io
