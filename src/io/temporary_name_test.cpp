#include "io/temporary_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace ounce {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> names_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

// Runs `work` in a process that then waits to be killed. Returns when `work` has finished.
class Victim {
 public:
  template <class Work>
  explicit Victim(const Work& work) {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    process_ = ::fork();
    if (process_ == 0) {
      work();
      char done = 1;
      if (::write(pipe[1], &done, 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    ::close(pipe[1]);
    char done = 0;
    EXPECT_EQ(::read(pipe[0], &done, 1), 1);
    ::close(pipe[0]);
  }
  ~Victim() { kill(); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
};

const std::string kDigits = "0123456789abcdef";

TEST(TemporaryNameTest, NamesAreUniqueAndRecognized) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    for (const std::string& name : {temporary_output_name("out.onnx"), temporary_folder_name("quantize"),
                                    temporary_output_name(std::string(255, 'n'))}) {
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_TRUE(is_temporary_name(name)) << name;
      EXPECT_LE(name.size(), 255U);
    }
  }
}

TEST(TemporaryNameTest, ALongNameIsCutBetweenCharacters) {
  std::string name(199, 'n');
  name += "\xc3\xa4" + std::string(40, 'n');  // a character across the limit of 200 bytes
  EXPECT_TRUE(temporary_output_name(name).starts_with("." + std::string(199, 'n') + ".ounce-"));
}

TEST(TemporaryNameTest, OtherNamesAreNotOurs) {
  const std::vector<std::string> others = {".out.onnx.12345.part",
                                           "out.onnx",
                                           ".part",
                                           ".ounce-" + kDigits + ".part",
                                           "ounce-" + kDigits,
                                           "ounce-build-abcdef",
                                           "ounce-Build-" + kDigits,
                                           ".out.ounce-" + kDigits + "0.part",
                                           ".out.ounce-0123456789ABCDEF.part",
                                           ".out.ounce-" + kDigits + ".part2",
                                           "out.ounce-" + kDigits + ".part",
                                           "ounce-tune-" + kDigits + ".bak",
                                           "ounce-",
                                           ""};
  for (const std::string& name : others) EXPECT_FALSE(is_temporary_name(name)) << name;
}

TEST(TemporaryNameTest, WhatAKilledProcessLeftIsRemoved) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / temporary_output_name("out.onnx"),
                 tree = folder / temporary_output_name("out");
  Victim victim([&] {
    const int made = ::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
    fs::create_directories(tree / "a/b");
    test::write_file(tree / "a/b/c", "c");
    const int open = ::open(tree.c_str(), O_RDONLY | O_DIRECTORY);
    if (!lock_temporary(made) || !lock_temporary(open)) ::_exit(1);
  });
  remove_leftovers(folder.path());
  EXPECT_EQ(names_of(folder.path()).size(), 2U) << "its writer lives";
  EXPECT_TRUE(fs::exists(tree / "a/b/c"));
  victim.kill();
  remove_leftovers(folder.path());
  EXPECT_THAT(names_of(folder.path()), IsEmpty());
}

TEST(TemporaryNameTest, WhatIsNotOursStays) {
  const test::TemporaryFolder folder;
  const fs::path outside = folder / "outside", tree = folder / ("ounce-tune-" + kDigits);
  fs::create_directory(outside);
  test::write_file(outside / "kept", "kept");
  const std::string link = ".link.ounce-" + kDigits + ".part", pipe = ".pipe.ounce-" + kDigits + ".part";
  fs::create_directory_symlink(outside, folder / link);
  ASSERT_EQ(::mkfifo((folder / pipe).c_str(), 0600), 0);
  test::write_file(folder / ".out.onnx.12345.part", "of another program");
  fs::create_directory(tree);
  fs::create_directory_symlink(outside, tree / "link");
  remove_leftovers(folder.path());
  EXPECT_THAT(names_of(folder.path()), UnorderedElementsAre("outside", link, pipe, ".out.onnx.12345.part"));
  EXPECT_TRUE(fs::exists(outside / "kept")) << "a link was followed";
}

TEST(TemporaryNameTest, AnotherUsersFilesStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const test::TemporaryFolder folder;
  const std::string name = ".out.ounce-" + kDigits + ".part";
  test::write_file(folder / name, "theirs");
  ASSERT_EQ(::chown((folder / name).c_str(), 65534, 65534), 0);
  remove_leftovers(folder.path());
  EXPECT_THAT(names_of(folder.path()), UnorderedElementsAre(name));
}

TEST(TemporaryNameTest, EachProcessLooksOnce) {
  const test::TemporaryFolder folder;
  const std::string name = ".out.ounce-" + kDigits + ".part";
  test::write_file(folder / name, "left");
  remove_leftovers_once(folder.path());
  EXPECT_THAT(names_of(folder.path()), IsEmpty());
  test::write_file(folder / name, "left");
  remove_leftovers_once(folder.path());
  EXPECT_THAT(names_of(folder.path()), UnorderedElementsAre(name));
}

TEST(TemporaryNameTest, ATakenNameIsLeftAlone) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "taken");
  test::write_file(folder / "taken/kept", "kept");
  int calls = 0;
  fs::path made;
  io::Descriptor open = make_temporary_folder(
      folder.path(), [&] { return ++calls == 1 ? "taken" : "free"; }, 0700, made);
  ASSERT_TRUE(open);
  EXPECT_EQ(made, folder.path() / "free");
  EXPECT_TRUE(fs::exists(folder / "taken/kept"));
  EXPECT_TRUE(remove_temporary_folder(made, std::move(open)));
  EXPECT_THAT(names_of(folder.path()), UnorderedElementsAre("taken"));
}

TEST(TemporaryNameTest, AFolderThatTookTheNameStays) {
  const test::TemporaryFolder folder;
  fs::path made;
  io::Descriptor open = make_temporary_folder(
      folder.path(), [] { return "mine"; }, 0700, made);
  fs::rename(made, folder / "moved");
  fs::create_directory(made);
  test::write_file(made / "kept", "kept");
  EXPECT_TRUE(remove_temporary_folder(made, std::move(open)));
  EXPECT_TRUE(fs::exists(made / "kept"));
}

// All descriptors up to the limit are in use.
TEST(TemporaryFolderTest, GoesAwayWithoutAFreeDescriptor) {
  fs::path path;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  {
    const TemporaryFolder folder("test");
    path = folder.path();
    test::write_file(path / "file", "text");
    rlimit none = before;
    none.rlim_cur = 3;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolderTest, IsPrivateAndGoesAway) {
  fs::path path;
  {
    const TemporaryFolder folder("test");
    path = folder.path();
    EXPECT_TRUE(is_temporary_name(path.filename().string()));
    EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0700U);
    fs::create_directories(path / "a/b");
    test::write_file(path / "a/b/c", "c");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolderTest, OfAKilledProcessGoesWithTheNextOne) {
  const test::TemporaryFolder system;
  const char* const before = ::getenv("TMPDIR");
  const std::string restored = before == nullptr ? "" : before;
  ::setenv("TMPDIR", system.path().c_str(), 1);
  {
    Victim victim([] { new TemporaryFolder("victim"); });
    EXPECT_EQ(names_of(system.path()).size(), 1U);
    victim.kill();
    const TemporaryFolder next("next");
    EXPECT_THAT(names_of(system.path()), UnorderedElementsAre(next.path().filename().string()));
  }
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", restored.c_str(), 1);
  }
}

}  // namespace
}  // namespace ounce
