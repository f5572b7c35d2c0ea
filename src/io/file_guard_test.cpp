#include "io/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <numeric>
#include <optional>
#include <thread>

#include "base/cancel.h"
#include "io/descriptor.h"
#include "io/output_file.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

using ounce::test::error_of;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::KilledBySignal;

constexpr std::size_t kBytes = std::size_t{1} << 20;

struct FileGuardTest : testing::Test {
  FileGuardTest() { ounce::test::write_file(path, std::string(kBytes, 'a')); }
  void cut() const { std::filesystem::resize_file(path, 5000); }

  ounce::test::TemporaryFolder folder;
  std::filesystem::path path = folder / "model.bin";
};

std::size_t sum_of(std::string_view bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

TEST_F(FileGuardTest, AFileThatIsCutIsAnErrorOfTheCall) {
  const Error error = error_of([&] {
    const CancellationScope scope(nullptr);
    const MappedFile file = MappedFile::open(path);
    EXPECT_EQ(sum_of(file.bytes()), kBytes * 'a');
    EXPECT_FALSE(file.was_cut());
    throw_if_cancelled();
    cut();
    EXPECT_EQ(sum_of(file.bytes()), 5000U * 'a');
    EXPECT_TRUE(file.was_cut());
    throw_if_cancelled();
  });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr(path.string() + ": was truncated while it was read"));
}

TEST_F(FileGuardTest, ACallThatAsksNobodyThrowsWhenItGoes) {
  const auto read = [&] {
    const CancellationScope scope(nullptr);
    const MappedFile file = MappedFile::open(path);
    cut();
    return sum_of(file.bytes());
  };
  EXPECT_EQ(error_of([&] { read(); }).code(), ErrorCode::kIo);
  EXPECT_EQ(take_file_fault(), std::nullopt);  // already returned
}

TEST_F(FileGuardTest, AnotherErrorIsExplainedByIt) {
  const Error error = error_of([&] {
    const CancellationScope scope(nullptr);
    const MappedFile file = MappedFile::open(path);
    cut();
    sum_of(file.bytes());
    throw Error(ErrorCode::kBadInput, "zeros are no model");
  });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  const auto cause = take_file_fault();
  ASSERT_TRUE(cause);
  EXPECT_THAT(*cause, HasSubstr("was truncated"));
  EXPECT_EQ(take_file_fault(), std::nullopt);
}

TEST_F(FileGuardTest, NoOutputIsMadeOfIt) {
  const Error error = error_of([&] {
    const CancellationScope scope(nullptr);
    const MappedFile file = MappedFile::open(path);
    OutputFile output(folder / "output", 10);
    cut();
    sum_of(file.bytes());
    output.write(0, "0123456789");
    output.commit();
  });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_FALSE(std::filesystem::exists(folder / "output"));
}

TEST_F(FileGuardTest, ThreadsOfACallAndOtherCalls) {
  const CancellationScope outer(nullptr);
  const MappedFile intact = MappedFile::open(path);
  ounce::test::write_file(folder / "other", std::string(kBytes, 'b'));
  const Error error = error_of([&] {
    const CancellationScope inner(nullptr);
    const MappedFile file = MappedFile::open(folder / "other");
    std::filesystem::resize_file(folder / "other", 0);
    const CurrentScope current;
    std::thread([&] {
      const CurrentScope::Scope scope(current);
      EXPECT_EQ(sum_of(file.bytes()), 0U);
      EXPECT_EQ(error_of([] { throw_if_cancelled(); }).code(), ErrorCode::kIo);
    }).join();
    std::thread([&] {  // does not work for the call
      const CancellationScope unrelated(nullptr);
      throw_if_cancelled();
    })
        .join();
    throw_if_cancelled();
  });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  throw_if_cancelled();  // the outer scope did not read the file
  EXPECT_FALSE(intact.was_cut());
}

TEST_F(FileGuardTest, MappingsOfOthersAreGuardedByTheirFile) {
  const Error error = error_of([&] {
    const CancellationScope scope(nullptr);
    const FileGuard guard = FileGuard::of_all(MappedFile::open(path));
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* const mapping = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    ASSERT_NE(mapping, MAP_FAILED);
    cut();
    EXPECT_EQ(sum_of({static_cast<const char*>(mapping), kBytes}), 5000U * 'a');
    EXPECT_TRUE(guard.was_cut());
    ::munmap(mapping, kBytes);
  });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
}

TEST_F(FileGuardTest, ManyFilesAtOnce) {
  const auto read = [&] {
    const CancellationScope scope(nullptr);
    std::vector<MappedFile> files;
    for (int i = 0; i < 200; ++i) files.push_back(MappedFile::open(path));
    files.erase(files.begin() + 50, files.begin() + 150);
    cut();
    for (const MappedFile& file : files) EXPECT_EQ(sum_of(file.bytes()), 5000U * 'a');
  };
  EXPECT_EQ(error_of(read).code(), ErrorCode::kIo);
}

using FileGuardDeathTest = FileGuardTest;

// Sanitizers have their own handler.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(FileGuardDeathTest, WithoutACallNothingIsGuarded) {
  const auto read = [&] {
    const MappedFile file = MappedFile::open(path);
    cut();
    ::_exit(sum_of(file.bytes()) == 0 ? 1 : 2);
  };
  EXPECT_EXIT(read(), KilledBySignal(SIGBUS), "");
}

TEST_F(FileGuardDeathTest, TheGuardCanBeTurnedOff) {
  const auto read = [&] {
    set_file_guard(false);
    const CancellationScope scope(nullptr);
    const MappedFile file = MappedFile::open(path);
    cut();
    ::_exit(sum_of(file.bytes()) == 0 ? 1 : 2);
  };
  EXPECT_EXIT(read(), KilledBySignal(SIGBUS), "");
}

TEST_F(FileGuardDeathTest, OtherFaultsHaveTheirUsualEffect) {
  const auto read = [&] {
    const CancellationScope scope(nullptr);
    const MappedFile guarded = MappedFile::open(path);
    const Descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const auto* const beyond = static_cast<const volatile char*>(
        ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file.get(), off_t{1} << 40));
    ::_exit(beyond[0] + 1);
  };
  EXPECT_EXIT(read(), KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        const CancellationScope scope(nullptr);
        const MappedFile guarded = MappedFile::open(path);
        ::raise(SIGBUS);
      },
      KilledBySignal(SIGBUS), "");
}

TEST_F(FileGuardDeathTest, TheHandlerBeforeGetsWhatIsNotOurs) {
  const auto read = [&] {
    struct sigaction action {};
    action.sa_handler = [](int) { ::_exit(42); };
    ::sigaction(SIGBUS, &action, nullptr);
    const CancellationScope scope(nullptr);
    const MappedFile guarded = MappedFile::open(path);
    cut();
    if (sum_of(guarded.bytes()) != 5000U * 'a') ::_exit(1);
    const Descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const auto* const beyond = static_cast<const volatile char*>(
        ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file.get(), off_t{1} << 40));
    ::_exit(beyond[0] + 1);
  };
  EXPECT_EXIT(read(), ExitedWithCode(42), "");
}
#endif

}  // namespace
}  // namespace ounce::io
