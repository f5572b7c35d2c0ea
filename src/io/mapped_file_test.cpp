#include "io/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <string>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::write_file;
using testing::EndsWith;

std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

class MappedFileTest : public testing::Test {
 protected:
  test::TemporaryFolder folder;
};

TEST_F(MappedFileTest, ShowsTheBytesOfTheFile) {
  const std::string bytes = noise(100'001);
  write_file(folder / "a", bytes);
  const MappedFile file = MappedFile::open(folder / "a");
  EXPECT_TRUE(file.bytes() == bytes);
  EXPECT_EQ(file.path(), folder / "a");
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  write_file(folder / "a", "");
  const MappedFile file = MappedFile::open(folder / "a");
  EXPECT_TRUE(file.bytes().empty());
  EXPECT_TRUE(file.same_file_as(folder / "a"));
}

TEST_F(MappedFileTest, ReleasedBytesStayReadable) {
  const std::string bytes = noise(1'000'003);
  write_file(folder / "a", bytes);
  const MappedFile file = MappedFile::open(folder / "a");
  EXPECT_TRUE(file.bytes() == bytes);
  for (const auto& [offset, size] : {std::pair<std::size_t, std::size_t>{0, 1'000'003},
                                     {1, 5},
                                     {4095, 2},
                                     {4096, 4096},
                                     {999'999, 4},
                                     {0, 0}}) {
    file.release(file.bytes().substr(offset, size));
    EXPECT_TRUE(file.bytes() == bytes) << offset;
  }
}

TEST_F(MappedFileTest, ReleaseLeavesBytesOfOthersAlone) {
  write_file(folder / "a", noise(10'000));
  const MappedFile file = MappedFile::open(folder / "a");
  std::string mine = noise(50'000);
  const std::string copy = mine;
  file.release(mine);
  file.release({});
  EXPECT_TRUE(mine == copy);
  EXPECT_FALSE(file.contains(mine));
  EXPECT_TRUE(file.contains(file.bytes()));
  EXPECT_FALSE(file.contains({}));
  EXPECT_FALSE(MappedFile().contains(mine));
}

TEST_F(MappedFileTest, StaysValidWhenItIsMoved) {
  write_file(folder / "a", "aaa");
  write_file(folder / "b", "bbb");
  MappedFile first = MappedFile::open(folder / "a");
  MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes(), "aaa");
  second = MappedFile::open(folder / "b");
  EXPECT_EQ(second.bytes(), "bbb");
  EXPECT_TRUE(second.same_file_as(folder / "b"));
}

TEST_F(MappedFileTest, StaysValidWhenTheFileIsReplacedOrRemoved) {
  write_file(folder / "a", "before");
  write_file(folder / "b", "after");
  const MappedFile file = MappedFile::open(folder / "a");
  fs::rename(folder / "b", folder / "a");
  EXPECT_EQ(file.bytes(), "before");
  fs::remove(folder / "a");
  EXPECT_EQ(file.bytes(), "before");
}

TEST_F(MappedFileTest, KnowsItsFileUnderOtherNames) {
  write_file(folder / "a", "x");
  write_file(folder / "b", "x");
  fs::create_symlink("a", folder / "link");
  fs::create_hard_link(folder / "a", folder / "hard");
  const MappedFile file = MappedFile::open(folder / "link");
  EXPECT_TRUE(file.same_file_as(folder / "a"));
  EXPECT_TRUE(file.same_file_as(folder / "hard"));
  EXPECT_TRUE(file.same_file_as(folder.path() / "." / "a"));
  EXPECT_FALSE(file.same_file_as(folder / "b"));
  EXPECT_FALSE(file.same_file_as(folder / "missing"));
}

TEST_F(MappedFileTest, OpensOnlyRegularFiles) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto refusal = [](const fs::path& path) {
    const Error error = error_of([&] { MappedFile::open(path); });
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_EQ(error.where(), path.string());
    return std::string(error.what());
  };
  EXPECT_THAT(refusal(folder / "pipe"), EndsWith(": is not a regular file"));
  EXPECT_THAT(refusal("/dev/null"), EndsWith(": is not a regular file"));
  EXPECT_THAT(refusal(folder.path()), EndsWith(": is a folder, not a file"));
  EXPECT_THAT(refusal(folder / "missing"), EndsWith(": cannot open: No such file or directory"));
}

TEST_F(MappedFileTest, BeneathAFolderOpensOnlyWhatIsInIt) {
  fs::create_directory(folder / "inside");
  write_file(folder / "inside/a", "a");
  write_file(folder / "outside", "secret");
  fs::create_symlink("../outside", folder / "inside/link");
  EXPECT_EQ(MappedFile::open_beneath(folder / "inside", "a").bytes(), "a");
  for (const char* path : {"../outside", "link", "/etc/passwd"}) {
    EXPECT_EQ(error_of([&] { MappedFile::open_beneath(folder / "inside", path); }).code(),
              ErrorCode::kBadInput)
        << path;
  }
  EXPECT_EQ(error_of([&] { MappedFile::open_beneath(folder / "missing", "a"); }).code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace ounce::io
