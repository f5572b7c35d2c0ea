#include "search/tune/journal.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct JournalTest : testing::Test {
  void append(const std::string& text) { std::ofstream(file, std::ios::app) << text; }
  ounce::test::TemporaryFolder folder;
  std::vector<std::string> notes;
  std::filesystem::path file = folder / "kept.jsonl";
};

TEST_F(JournalTest, WhatWasAddedIsFoundAgainToTheLastBit) {
  const double exact = 0.1 + 0.2;
  Journal(file).add("a", {{"noise", exact}}, 1.5);
  const Journal again(file);
  ASSERT_NE(again.find("a"), nullptr);
  EXPECT_EQ(again.find("a")->value.at("noise").get<double>(), exact);
  EXPECT_EQ(again.find("a")->seconds, 1.5);
  EXPECT_EQ(again.find("b"), nullptr);
}

TEST_F(JournalTest, WhatIsAddedLastCounts) {
  Journal journal(file);
  const Journal::Entry& first = journal.add("a", "not readable", 0);
  EXPECT_EQ(journal.add("a", 2, 0).value, 2);
  EXPECT_EQ(journal.find("a")->value, 2);
  EXPECT_EQ(Journal(file).find("a")->value, 2);
  EXPECT_EQ(first.value, "not readable");  // an entry never changes
}

TEST_F(JournalTest, LinesThatAreNoneAreSurvived) {
  Journal(file).add("a", 1, 0);
  append("garbage\n{\"key\": 3}\n{\"key\":\"x\",\"value\":1}\n\n[1,2]\n");
  Journal(file).add("b", 2, 0);
  const Journal again(file);
  EXPECT_NE(again.find("a"), nullptr);
  EXPECT_NE(again.find("b"), nullptr);
  EXPECT_EQ(again.find("x"), nullptr);
}

TEST_F(JournalTest, ALineThatWasCutDoesNotSpoilTheNext) {
  Journal(file).add("a", 1, 0);
  append(R"({"key":"cut","value":)");
  Journal(file).add("b", 2, 0);
  const Journal again(file);
  EXPECT_NE(again.find("a"), nullptr);
  EXPECT_NE(again.find("b"), nullptr);
  EXPECT_EQ(again.find("cut"), nullptr);
}

TEST_F(JournalTest, AnotherProcessMayLeaveALineWithoutAnEnd) {
  Journal journal(file);
  journal.add("a", 1, 0);
  append(R"({"key":"cut","value":)");
  journal.add("b", 2, 0);
  EXPECT_NE(Journal(file).find("b"), nullptr);
}

TEST_F(JournalTest, ALineThatSomebodyChangedIsNone) {
  Journal(file).add("a", 1234, 0);
  std::string text = ounce::test::read_file(file);
  text.replace(text.find("1234"), 4, "1235");
  ounce::test::write_file(file, text);
  EXPECT_EQ(Journal(file).find("a"), nullptr);
}

TEST_F(JournalTest, ALineNestedDeepIsNone) {
  append("{\"key\":\"a\",\"seconds\":1,\"value\":" + std::string(200'000, '[') + std::string(200'000, ']') +
         "}\n");
  Journal(file).add("b", 2, 0);
  const Journal again(file);
  EXPECT_EQ(again.find("a"), nullptr);
  EXPECT_NE(again.find("b"), nullptr);
}

TEST_F(JournalTest, NamesThatAreNoUtf8AreKept) {
  Journal(file).add("a", {{"name", "\xff"}}, 0);
  EXPECT_NE(Journal(file).find("a"), nullptr);
}

TEST_F(JournalTest, SeveralProcessesAddSideBySide) {
  for (int p = 0; p < 4; ++p) {
    if (::fork() != 0) continue;
    Journal journal(file);
    for (int i = 0; i < 50; ++i)
      journal.add(std::to_string(p) + " " + std::to_string(i), std::string(10'000, 'x'), 0);
    ::_exit(0);
  }
  while (::wait(nullptr) > 0) {
  }
  const Journal again(file);
  for (int p = 0; p < 4; ++p)
    for (int i = 0; i < 50; ++i) EXPECT_NE(again.find(std::to_string(p) + " " + std::to_string(i)), nullptr);
}

TEST_F(JournalTest, APipeIsNoJournal) {
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { Journal journal(file); }).code(), ErrorCode::kIo);
}

TEST_F(JournalTest, WithoutAFileNothingIsKept) {
  Journal journal("");
  journal.add("a", 1, 0);
  EXPECT_NE(journal.find("a"), nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(JournalTest, SeveralThreadsAddSideBySide) {
  {
    Journal journal(file);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&journal, t] {
        for (int i = 0; i < 50; ++i)
          journal.add(std::to_string(t) + " " + std::to_string(i), std::string(300, 'x'), 0);
      });
    for (std::thread& thread : threads) thread.join();
  }
  const Journal again(file);
  for (int t = 0; t < 4; ++t)
    for (int i = 0; i < 50; ++i) EXPECT_NE(again.find(std::to_string(t) + " " + std::to_string(i)), nullptr);
}

TEST_F(JournalTest, AFolderThatCannotBeIsTold) {
  ounce::test::write_file(folder / "taken", "");
  const Error error = error_of([&] { journal_file(folder / "taken/cache", "identity", notes); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("`keep=false`"));
  std::filesystem::create_directory(folder / "kept.jsonl");
  EXPECT_EQ(error_of([&] { Journal journal(file); }).code(), ErrorCode::kIo);
}

TEST_F(JournalTest, AnIdentityHasAFileOfItsOwn) {
  EXPECT_EQ(journal_file(folder.path(), "a", notes), journal_file(folder.path(), "a", notes));
  EXPECT_NE(journal_file(folder.path(), "a", notes), journal_file(folder.path(), "b", notes));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(JournalTest, ASymbolicLinkIsNotFollowed) {
  ounce::test::write_file(folder / "victim", "unchanged");
  std::filesystem::create_symlink(folder / "victim", file);
  const Error error = error_of([&] { Journal(file).add("a", 1, 0); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("is a symbolic link"));
  EXPECT_EQ(ounce::test::read_file(folder / "victim"), "unchanged");
}

TEST_F(JournalTest, AFileOfAnotherUserIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  Journal(file).add("a", 1, 0);
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  EXPECT_THAT(error_of([&] { Journal journal(file); }).what(), HasSubstr("belongs to another user"));
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);  // the folder was named: its owner is trusted
  EXPECT_NE(Journal(file).find("a"), nullptr);
}

TEST_F(JournalTest, FilesAndFoldersAreForTheirOwnerAlone) {
  const std::filesystem::path made = journal_file(folder / "new/cache", "a", notes);
  Journal(made).add("a", 1, 0);
  EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(folder / "new/cache").permissions(), std::filesystem::perms(0700));
}

// Sets the variables that name the user's cache, and restores them afterwards.
struct UsersCache : JournalTest {
  UsersCache() {
    for (const char* const name : {"OUNCE_CACHE", "XDG_CACHE_HOME", "HOME", "TMPDIR"}) {
      const char* const value = std::getenv(name);
      before[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      ::unsetenv(name);
    }
    ::setenv("TMPDIR", folder.path().c_str(), 1);
  }
  ~UsersCache() override {
    for (const auto& [name, value] : before) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }
  std::map<std::string, std::optional<std::string>> before;
};

TEST_F(UsersCache, WithoutAHomeNothingIsKept) {
  EXPECT_EQ(journal_file("", "a", notes), "");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("measurements are not kept: HOME is not set; give `cache`")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // nor in the folder of temporary files
}

TEST_F(UsersCache, IsBelowTheHome) {
  ::setenv("HOME", folder.path().c_str(), 1);
  EXPECT_EQ(journal_file("", "a", notes).parent_path(), folder / ".cache/ounce");
  EXPECT_EQ(std::filesystem::status(folder / ".cache/ounce").permissions(), std::filesystem::perms(0700));
  ::setenv("XDG_CACHE_HOME", (folder / "xdg").c_str(), 1);
  EXPECT_EQ(journal_file("", "a", notes).parent_path(), folder / "xdg/ounce");
  ::setenv("OUNCE_CACHE", (folder / "named").c_str(), 1);
  EXPECT_EQ(journal_file("", "a", notes).parent_path(), folder / "named");
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(UsersCache, IsClosedToOthers) {
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  std::filesystem::create_directory(folder / "ounce");
  std::filesystem::permissions(folder / "ounce", std::filesystem::perms(0777));
  EXPECT_NE(journal_file("", "a", notes), "");
  EXPECT_EQ(std::filesystem::status(folder / "ounce").permissions(), std::filesystem::perms(0700));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown((folder / "ounce").c_str(), 12345, 12345), 0);
  EXPECT_EQ(journal_file("", "a", notes), "");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("belongs to another user")));
}

TEST_F(UsersCache, ThatCannotBeMadeIsANote) {
  ::setenv("HOME", "/nonexistent/home", 1);
  if (::geteuid() == 0) {  // root can create it anyway
    ounce::test::write_file(folder / "home", "");
    ::setenv("HOME", (folder / "home").c_str(), 1);
  }
  EXPECT_EQ(journal_file("", "a", notes), "");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("measurements are not kept: ")));
}

}  // namespace
}  // namespace ounce::search
