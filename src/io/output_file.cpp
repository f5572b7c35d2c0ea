#include "io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <ounce/error.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/cancel.h"

namespace ounce::io {
namespace {

// One write call moves at most 2 GiB on Linux; stay well below.
constexpr std::size_t kLargestWrite = std::size_t{256} << 20;
// Smaller files are flushed faster than a thread is started.
constexpr std::uint64_t kFlushFrom = std::uint64_t{1} << 20;
constexpr mode_t kMode = 0666;  // the user's umask decides

[[noreturn]] void fail(const char* doing, const std::filesystem::path& path, int error) {
  throw Error(ErrorCode::kIo, fmt::format("cannot {}: {}", doing, std::strerror(error)), path.string());
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// Fits into the 255 bytes of a name, whatever the name of the file is.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.size() > 200) name.erase(100, name.size() - 200);
  return folder_of(path) / fmt::format(".{}.{}.part", name, ::getpid());
}

void flush_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot flush a folder and say EINVAL; the file itself is safe already.
  if (!descriptor || (::fsync(descriptor.get()) != 0 && errno != EINVAL))
    fail("flush the folder", folder, errno);
}

// What stands there, without opening it. A link into /proc (/dev/stdout is one) leads to what some process
// has open, which a name cannot take the place of: ELOOP.
Descriptor look_at(const std::filesystem::path& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  const long descriptor = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
    return Descriptor(::open(path.c_str(), O_PATH | O_CLOEXEC));
  return Descriptor(static_cast<int>(descriptor));
}

const char* name_of_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFCHR:
    case S_IFBLK: return "a device";
    case S_IFIFO: return "a pipe";
    case S_IFSOCK: return "a socket";
    default: return "no file";
  }
}

[[noreturn]] void refuse_place(const std::filesystem::path& path, const char* what) {
  throw Error(ErrorCode::kUsage, fmt::format("is {}, and only a file may be replaced", what), path.string());
}

}  // namespace

void require_file_or_free(const std::filesystem::path& path) {
  const Descriptor there = look_at(path);
  if (!there && errno == ELOOP) refuse_place(path, "a link that leads to no file");
  struct stat status {};
  if (!there || ::fstat(there.get(), &status) != 0) return;  // a free name, or writing will say why not
  if (S_ISDIR(status.st_mode)) fail("replace", path, EISDIR);
  if (!S_ISREG(status.st_mode)) refuse_place(path, name_of_kind(status.st_mode));
}

// Permissions do not tell it all (read-only file systems, /proc), so a file is opened there and dropped.
void require_place(const std::filesystem::path& path) { const OutputFile probe(path, 0); }

OutputFile::OutputFile(std::filesystem::path path, std::uint64_t size) : path_(std::move(path)), size_(size) {
  require_file_or_free(path_);
  descriptor_ = Descriptor(::open(folder_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  if (!descriptor_ && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    temporary_ = temporary_name(path_);
    ::unlink(temporary_.c_str());
    descriptor_ = Descriptor(::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode));
    if (!descriptor_) temporary_.clear();
  }
  if (!descriptor_) fail("write", path_, errno);
  try {
    reserve();
  } catch (...) {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    throw;
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::reserve() const {
  if (size_ == 0) return;
  if (::fallocate(descriptor_.get(), 0, 0, static_cast<off_t>(size_)) == 0) return;
  if (errno == ENOSPC) {
    std::error_code ignored;
    const auto space = std::filesystem::space(folder_of(path_), ignored);
    throw Error(ErrorCode::kIo,
                fmt::format("no room: {} bytes are needed, {} are free", size_, space.available),
                path_.string());
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) fail("reserve the space", path_, errno);
  if (::ftruncate(descriptor_.get(), static_cast<off_t>(size_)) != 0) fail("reserve the space", path_, errno);
}

void OutputFile::write(std::uint64_t offset, std::string_view bytes) const {
  if (bytes.size() > size_ || offset > size_ - bytes.size()) {
    throw Error(ErrorCode::kInternal, fmt::format("write past the end at {}", offset), path_.string());
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_.get(), bytes.data(), std::min(bytes.size(), kLargestWrite),
                                     static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write", path_, written == 0 ? EIO : errno);
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::append(std::string_view bytes) {
  const std::uint64_t end = size_;
  size_ += bytes.size();
  write(end, bytes);
}

std::filesystem::path OutputFile::unfinished_path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_.get());  // for other processes too
}

// Only a hint: unlike fsync it takes note of no error, so whatever fails shows in flush().
void OutputFile::start_flush() {
  if (size_ < kFlushFrom) return;
  try {
    flusher_ =
        std::jthread([file = descriptor_.get()] { ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); });
  } catch (const std::system_error&) {
    // No more threads: flush() does all of it.
  }
}

void OutputFile::flush() const {
  if (::fsync(descriptor_.get()) != 0) fail("flush", path_, errno);
}

void OutputFile::link_to(const std::filesystem::path& name) const {
  if (::linkat(AT_FDCWD, unfinished_path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    fail("write", path_, errno);
  }
}

void OutputFile::commit() {
  throw_if_file_was_cut();
  flusher_ = {};  // joins it
  flush();
  require_file_or_free(path_);  // much may have happened since
  if (temporary_.empty()) {
    auto name = temporary_name(path_);
    ::unlink(name.c_str());
    link_to(name);
    temporary_ = std::move(name);  // needs no memory: from here on it is removed if anything fails
  }
  // rename() replaces whatever stood there in one step: a reader sees the old file or the new one.
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", path_, errno);
  temporary_.clear();
  descriptor_ = Descriptor();
  flush_folder(folder_of(path_));
}

}  // namespace ounce::io
