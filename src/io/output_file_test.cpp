#include "io/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::read_file;
using test::write_file;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class OutputFileTest : public testing::Test {
 protected:
  void write(const std::string& bytes) {
    OutputFile out(target, bytes.size());
    out.write(0, bytes);
    out.commit();
  }

  test::TemporaryFolder folder;
  fs::path target = folder / "out.bin";
};

TEST_F(OutputFileTest, APlaceIsAskedForBeforeTheWork) {
  require_place(target);
  write_file(target, "old");
  require_place(target);
  EXPECT_EQ(read_file(target), "old");
  EXPECT_EQ(entries_in(folder.path()), 1U);
  for (const fs::path& place :
       {folder / "absent" / "out.bin", target / "out.bin", fs::path("/proc/out.bin")}) {
    const Error error = error_of([&] { require_place(place); });
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_EQ(error.where(), place.string());
  }
  EXPECT_EQ(error_of([] { require_place("/dev/null"); }).code(), ErrorCode::kUsage);
}

TEST_F(OutputFileTest, AppearsWithItsBytesAtTheCommit) {
  OutputFile out(target, 6);
  out.write(3, "def");
  out.write(0, "abc");
  EXPECT_EQ(entries_in(folder.path()), 0U);
  EXPECT_EQ(read_file(out.unfinished_path()), "abcdef");
  out.commit();
  EXPECT_EQ(read_file(target), "abcdef");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST_F(OutputFileTest, LeavesNothingWhenItIsNotCommitted) {
  {
    OutputFile out(target, 100);
    out.write(0, "abc");
    out.flush();
  }
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

TEST_F(OutputFileTest, KeepsTheOldFileUntilTheCommit) {
  write_file(target, "old");
  {
    OutputFile out(target, 3);
    out.write(0, "new");
    EXPECT_EQ(read_file(target), "old");
  }
  EXPECT_EQ(read_file(target), "old");
  write("new");
  EXPECT_EQ(read_file(target), "new");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST_F(OutputFileTest, AReaderSeesTheOldFileOrTheNewOneAndNothingElse) {
  const std::string old_bytes(200'000, 'o'), new_bytes(100'000, 'n');
  write(old_bytes);
  std::atomic<bool> stop = false;
  std::atomic<int> reads = 0, wrong = 0;
  std::thread reader([&] {
    while (!stop) {
      const std::string seen = read_file(target);
      if (seen != old_bytes && seen != new_bytes) ++wrong;
      ++reads;
    }
  });
  for (int i = 0; i < 50; ++i) write(i % 2 == 0 ? new_bytes : old_bytes);
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reads, 0);
}

TEST_F(OutputFileTest, ManyThreadsMayWrite) {
  std::string expected;
  {
    OutputFile out(target, 8 * 1000);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&out, i] {
        out.write(static_cast<std::uint64_t>(i) * 1000, std::string(1000, static_cast<char>('a' + i)));
      });
      expected += std::string(1000, static_cast<char>('a' + i));
    }
    for (std::thread& thread : threads) thread.join();
    out.commit();
  }
  EXPECT_EQ(read_file(target), expected);
}

TEST_F(OutputFileTest, AnEmptyFileIsAFileToo) {
  write("");
  EXPECT_EQ(fs::file_size(target), 0U);
}

TEST_F(OutputFileTest, MayBeMovedBeforeTheCommit) {
  OutputFile first(target, 3);
  OutputFile second(std::move(first));
  second.write(0, "abc");
  second.commit();
  EXPECT_EQ(read_file(target), "abc");
}

TEST_F(OutputFileTest, WritesIntoTheCurrentFolder) {
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  target = "here.bin";
  write("abc");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder / "here.bin"), "abc");
}

TEST_F(OutputFileTest, PermissionsFollowTheUmask) {
  for (const mode_t mask : {0022U, 0077U, 0002U}) {
    const mode_t before = ::umask(mask);
    fs::remove(target);
    write("abc");
    ::umask(before);
    EXPECT_EQ(static_cast<mode_t>(fs::status(target).permissions()), 0666U & ~mask);
  }
}

TEST_F(OutputFileTest, AReplacedFileKeepsItsPermissions) {
  for (const mode_t mode : {0600U, 0640U, 0444U, 0664U}) {
    write_file(target, "old");
    ASSERT_EQ(::chmod(target.c_str(), mode), 0);
    OutputFile out(target, 3);
    EXPECT_EQ(static_cast<mode_t>(fs::status(out.unfinished_path()).permissions()) & ~(mode | 0600U), 0U)
        << "others may read it before it is done";
    out.write(0, "new");
    out.commit();
    EXPECT_EQ(static_cast<mode_t>(fs::status(target).permissions()), mode);
    EXPECT_EQ(read_file(target), "new");
  }
  fs::remove(target);
  write_file(folder / "other", "");
  ASSERT_EQ(::chmod((folder / "other").c_str(), 0600), 0);
  OutputFile(target, 0, folder / "other").commit();
  EXPECT_EQ(static_cast<mode_t>(fs::status(target).permissions()), 0600U);
}

TEST_F(OutputFileTest, AFileNameMayBeAsLongAsTheFileSystemAllows) {
  target = folder / std::string(255, 'n');
  write("abc");
  EXPECT_EQ(read_file(target), "abc");
  target = folder / std::string(256, 'n');
  EXPECT_EQ(error_of([&] { write("abc"); }).code(), ErrorCode::kIo);
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

// --- Several writers at the same time.

// Each thread writes its own bytes; if paths are equal, the last one wins.
void write_at_once(const std::vector<fs::path>& paths, int rounds) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string bytes(5000 + i, static_cast<char>('a' + i));
      for (int round = 0; round < rounds; ++round) {
        OutputFile out(paths[i], bytes.size());
        out.write(0, bytes);
        EXPECT_NO_THROW(out.commit());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OutputFileTest, ThreadsMayWriteTheSameName) {
  write_at_once({target, target, target, target}, 50);
  const std::string seen = read_file(target);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen, std::string(5000 + static_cast<std::size_t>(seen[0] - 'a'), seen[0]));
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST_F(OutputFileTest, LongNamesThatDifferInTheirMiddleAreTwoFiles) {
  const std::string first = std::string(110, 'a') + "x" + std::string(110, 'b'),
                    second = std::string(110, 'a') + "y" + std::string(110, 'b');
  write_at_once({folder / first, folder / second}, 100);
  EXPECT_EQ(read_file(folder / first), std::string(5000, 'a'));
  EXPECT_EQ(read_file(folder / second), std::string(5001, 'b'));
  EXPECT_EQ(entries_in(folder.path()), 2U);
}

TEST_F(OutputFileTest, AFileThatItDidNotMakeStays) {
  const fs::path other = folder / (".out.bin." + std::to_string(::getpid()) + ".part");
  write_file(other, "of another process");
  write("abc");
  EXPECT_EQ(read_file(other), "of another process");
}

TEST_F(OutputFileTest, WhatAKilledProcessLeftIsRemoved) {
  write_file(folder / ".other.bin.ounce-0123456789abcdef.part", "left");
  write("abc");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

// --- Failures.

TEST_F(OutputFileTest, WritingOutsideOfTheReservedSpaceIsABug) {
  const OutputFile out(target, 10);
  EXPECT_EQ(error_of([&] { out.write(10, "x"); }).code(), ErrorCode::kInternal);
  EXPECT_EQ(error_of([&] { out.write(0, "12345678901"); }).code(), ErrorCode::kInternal);
  EXPECT_EQ(error_of([&] { out.write(UINT64_MAX, "xx"); }).code(), ErrorCode::kInternal);
  EXPECT_NO_THROW(out.write(10, ""));
}

TEST_F(OutputFileTest, SaysThatTheFolderIsMissing) {
  const Error error = error_of([&] { OutputFile(folder.path() / "missing/out.bin", 1); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_EQ(error.what(),
            (folder.path() / "missing/out.bin").string() + ": cannot write: No such file or directory");
  EXPECT_EQ(error_of([] { OutputFile("/dev/null/out.bin", 1); }).code(), ErrorCode::kIo);
}

TEST_F(OutputFileTest, AFolderInItsPlaceStaysAndNothingIsLeft) {
  fs::create_directory(target);
  write_file(target / "inner", "x");
  const Error error = error_of([&] { write("abc"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("out.bin: cannot replace: "));
  EXPECT_EQ(entries_in(folder.path()), 1U);
  EXPECT_TRUE(fs::exists(target / "inner"));
}

// Uses a device node made for the test, where permitted, instead of real devices.
TEST_F(OutputFileTest, ReplacesNothingButFiles) {
  const fs::path pipe = folder / "pipe", link = folder / "link", node = folder / "node",
                 socket = folder / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", link);
  std::vector<fs::path> places = {pipe, link};
  if (::mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) places.push_back(node);
  const Descriptor bound(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.string().copy(address.sun_path, sizeof address.sun_path - 1) == socket.string().size() &&
      ::bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    places.push_back(socket);
  for (const fs::path& place : places) {
    const mode_t before = static_cast<mode_t>(fs::symlink_status(place).type());
    target = place;
    const Error error = error_of([&] { write("abc"); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), EndsWith("only a regular file can be replaced")) << place;
    EXPECT_EQ(static_cast<mode_t>(fs::symlink_status(place).type()), before) << place;
  }
  EXPECT_EQ(entries_in(folder.path()), places.size());
}

// /dev/stdout is such a link; replacing it would affect all programs.
TEST_F(OutputFileTest, AnOpenFileOfAProcessIsNoPlace) {
  const std::string open = folder / "open";
  const Descriptor descriptor(::open(open.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  fs::create_symlink(fs::path("/proc/self/fd") / std::to_string(descriptor.get()), target);
  const Error error = error_of([&] { write("abc"); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_TRUE(fs::is_symlink(target));
}

TEST_F(OutputFileTest, WhatBecomesAPipeInTheMeantimeStays) {
  OutputFile out(target, 3);
  out.write(0, "abc");
  ASSERT_EQ(::mkfifo(target.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { out.commit(); }).code(), ErrorCode::kUsage);
  EXPECT_TRUE(fs::is_fifo(target));
}

TEST_F(OutputFileTest, ALinkIsReplacedAndWhatItLedToStays) {
  write_file(folder / "old", "old");
  fs::create_symlink("old", target);
  write("abc");
  EXPECT_EQ(read_file(target), "abc");
  EXPECT_EQ(read_file(folder / "old"), "old");
  fs::remove(target);
  fs::create_symlink("nowhere", target);
  write("abc");
  EXPECT_FALSE(fs::is_symlink(target));
}

// Root may write anywhere, so a process of another user makes the attempt.
TEST_F(OutputFileTest, SaysThatTheFolderIsNotWritable) {
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
      ::_exit(2);
    try {
      const OutputFile out(target, 1);
    } catch (const Error& error) {
      const bool is_clear = error.code() == ErrorCode::kIo &&
                            std::string(error.what()).ends_with("cannot write: Permission denied");
      ::_exit(is_clear ? 0 : 3);
    }
    ::_exit(4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Limits file sizes of this process to `bytes` during its lifetime, and ignores the signal that would end it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(OutputFileTest, SpaceThatCannotBeReservedIsKnownAtOnce) {
  write_file(target, "old");
  const FileSizeLimit limit(1000);
  const Error error = error_of([&] { OutputFile(target, 2000); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), EndsWith("out.bin: cannot reserve the space: File too large"));
  EXPECT_EQ(read_file(target), "old");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST_F(OutputFileTest, AWriteThatFailsLeavesTheOldFile) {
  write_file(target, "old");
  {
    OutputFile out(target, 2000);
    const FileSizeLimit limit(1000);
    EXPECT_NO_THROW(out.write(0, std::string(1000, 'x')));
    EXPECT_THAT(error_of([&] { out.write(500, std::string(1000, 'x')); }).what(),
                EndsWith("out.bin: cannot write: File too large"));
  }
  EXPECT_EQ(read_file(target), "old");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

// /dev/shm is in memory and immediately rejects more than its capacity.
TEST_F(OutputFileTest, SaysHowMuchRoomIsNeededOnAFullDisk) {
  std::string name = "/dev/shm/ounce-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::uint64_t size = fs::space(name).capacity + (std::uint64_t{1} << 30);
  const Error error = error_of([&] { OutputFile(fs::path(name) / "out.bin", size); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("out.bin: not enough disk space: " + std::to_string(size) + " bytes needed, "),
                    EndsWith(" available")));
  EXPECT_EQ(entries_in(name), 0U);
  fs::remove(name);
}

TEST_F(OutputFileTest, AnAbsurdSizeIsRefused) {
  for (const std::uint64_t size : {std::uint64_t{1} << 62, UINT64_MAX}) {
    EXPECT_EQ(error_of([&] { OutputFile(target, size); }).code(), ErrorCode::kIo);
  }
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

}  // namespace
}  // namespace ounce::io
