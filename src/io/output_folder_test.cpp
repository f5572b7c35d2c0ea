#include "io/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <algorithm>

#include "io/mapped_file.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

namespace fs = std::filesystem;
using Existing = OutputFolder::Existing;
using test::error_of;
using testing::ElementsAre;
using testing::IsEmpty;

class OutputFolderTest : public testing::Test {
 protected:
  std::vector<std::string> names(const std::string& below = {}) const {
    std::error_code error;
    std::vector<std::string> found = names_in(folder / below, error);
    std::sort(found.begin(), found.end());
    return found;
  }

  const test::TemporaryFolder folder;
  const fs::path place = folder / "out";
};

TEST_F(OutputFolderTest, AppearsWholeOrNotAtAll) {
  {
    OutputFolder out(place, Existing::kRefuse);
    test::write_file(out.place_for("a/b.txt"), "b");
    EXPECT_FALSE(fs::exists(place));
  }
  EXPECT_THAT(names(), IsEmpty());
  OutputFolder out(place, Existing::kRefuse);
  test::write_file(out.place_for("a/b.txt"), "b");
  out.commit();
  EXPECT_EQ(test::read_file(place / "a/b.txt"), "b");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(OutputFolderTest, WhatIsThereIsRefusedOrReplacedInOneStep) {
  fs::create_directory(place);
  test::write_file(place / "old.txt", "old");
  EXPECT_EQ(error_of([&] { OutputFolder(place, Existing::kRefuse); }).code(), ErrorCode::kUsage);
  {
    OutputFolder out(place / "", Existing::kReplace);  // a trailing slash has no effect
    test::write_file(out.place_for("new.txt"), "new");
    EXPECT_EQ(test::read_file(place / "old.txt"), "old");
    out.commit();
  }
  EXPECT_THAT(names("out"), ElementsAre("new.txt"));
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(OutputFolderTest, AnEmptyFolderIsAPlace) {
  fs::create_directory(place);
  OutputFolder out(place, Existing::kRefuse);
  test::write_file(out.place_for("new.txt"), "new");
  out.commit();
  EXPECT_THAT(names("out"), ElementsAre("new.txt"));
}

TEST_F(OutputFolderTest, OnlyAFolderIsReplaced) {
  test::write_file(place, "a file");
  EXPECT_EQ(error_of([&] { OutputFolder(place, Existing::kReplace); }).code(), ErrorCode::kUsage);
  fs::create_directory(folder / "elsewhere");
  test::write_file(folder / "elsewhere/x", "x");
  fs::create_directory_symlink(folder / "elsewhere", folder / "link");
  EXPECT_EQ(error_of([&] { OutputFolder(folder / "link", Existing::kReplace); }).code(), ErrorCode::kUsage);
  EXPECT_EQ(test::read_file(folder / "elsewhere/x"), "x");
}

// Another process created the folder first.
TEST_F(OutputFolderTest, WhatCameMeanwhileIsNotReplaced) {
  OutputFolder out(place, Existing::kRefuse);
  fs::create_directory(place);
  test::write_file(place / "theirs", "theirs");
  EXPECT_EQ(error_of([&] { out.commit(); }).code(), ErrorCode::kUsage);
  EXPECT_EQ(test::read_file(place / "theirs"), "theirs");
}

TEST_F(OutputFolderTest, AReplacedFolderKeepsItsPermissions) {
  for (const bool is_empty : {true, false}) {
    fs::remove_all(place);
    fs::create_directory(place);
    if (!is_empty) test::write_file(place / "old", "old");
    fs::permissions(place, fs::perms::owner_all);
    OutputFolder out(place, Existing::kReplace);
    EXPECT_EQ(fs::status(out.path()).permissions(), fs::perms::owner_all);
    test::write_file(out.place_for("new"), "new");
    out.commit();
    EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
    EXPECT_THAT(names("out"), ElementsAre("new"));
  }
}

TEST_F(OutputFolderTest, TwoMayBeWrittenAtOnce) {
  OutputFolder first(place, Existing::kReplace), second(place, Existing::kReplace);
  EXPECT_NE(first.path(), second.path());
  test::write_file(first.place_for("first"), "first");
  test::write_file(second.place_for("second"), "second");
  first.commit();
  second.commit();
  EXPECT_THAT(names("out"), ElementsAre("second"));
}

TEST_F(OutputFolderTest, OnlyItsOwnFolderTakesThePlace) {
  {
    OutputFolder out(place, Existing::kRefuse);
    fs::rename(out.path(), folder / "moved");
    fs::create_directory(out.path());
    test::write_file(out.path() / "theirs", "theirs");
    EXPECT_EQ(error_of([&] { out.commit(); }).code(), ErrorCode::kIo);
  }
  EXPECT_FALSE(fs::exists(place));
  EXPECT_EQ(names().size(), 2U) << "nothing was removed that it did not make";
}

TEST_F(OutputFolderTest, WhatAKilledProcessLeftIsRemoved) {
  fs::create_directories(folder / ".out.ounce-0123456789abcdef.part/a/b");
  test::write_file(folder / ".out.ounce-0123456789abcdef.part/a/b/model.onnx", "model");
  fs::create_directory(folder / ".out.4711.part");
  OutputFolder(place, Existing::kRefuse).commit();
  EXPECT_THAT(names(), ElementsAre(".out.4711.part", "out"));
}

TEST_F(OutputFolderTest, NothingIsWrittenOutside) {
  OutputFolder out(place, Existing::kRefuse);
  for (const char* name : {"../x", "a/../../x", "/x", ""})
    EXPECT_EQ(error_of([&] { out.place_for(name); }).code(), ErrorCode::kInternal) << name;
}

TEST_F(OutputFolderTest, CopiesAreWhole) {
  const std::string bytes(std::size_t{20} << 20, 'x');
  test::write_file(folder / "large", bytes);
  OutputFolder out(place, Existing::kRefuse);
  out.copy(folder / "large", "deep/large");
  out.commit();
  EXPECT_EQ(test::read_file(place / "deep/large"), bytes);
}

}  // namespace
}  // namespace ounce::io
