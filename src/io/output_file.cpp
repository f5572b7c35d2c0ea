#include "io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <ounce/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/cancel.h"
#include "base/model_kind.h"
#include "io/mapped_file.h"
#include "io/temporary_files.h"

namespace ounce::io {
namespace {

// One write call writes at most 2 GiB on Linux; stay well below.
constexpr std::size_t kLargestWrite = std::size_t{256} << 20;
// Smaller files are flushed faster than a thread starts.
constexpr std::uint64_t kFlushFrom = std::uint64_t{1} << 20;
constexpr mode_t kMode = 0666;  // before the umask
constexpr mode_t kOwn = 0600;   // needed by this process until the commit
constexpr int kAttempts = 100;  // to find an unused name

[[noreturn]] void fail(const char* doing, const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::kIo, fmt::format("cannot {}: {}", doing, why), path.string());
}
[[noreturn]] void fail(const char* doing, const std::filesystem::path& path, int error) {
  fail(doing, path, std::string(std::strerror(error)));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

std::filesystem::path temporary_path(const std::filesystem::path& path) {
  return folder_of(path) / temporary_output_name(path.filename().string());
}

std::optional<Permissions> permissions_for(const std::filesystem::path& path,
                                           const std::filesystem::path& like) {
  std::optional<Permissions> found = Permissions::of(path);
  return found || like.empty() ? found : Permissions::of(like);
}

void flush_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot flush a folder and return EINVAL; the file itself is already safe.
  if (!descriptor || (::fsync(descriptor.get()) != 0 && errno != EINVAL))
    fail("flush the folder", folder, errno);
}

// Looks up the file at a path without opening it. A link into /proc (such as /dev/stdout) leads to an open
// file, which cannot be replaced by name: ELOOP.
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
    default: return "not a regular file";
  }
}

[[noreturn]] void refuse_place(const std::filesystem::path& path, const char* what) {
  throw Error(ErrorCode::kUsage, fmt::format("is {}; only a regular file can be replaced", what),
              path.string());
}

}  // namespace

void require_folder_place(const std::filesystem::path& folder) {
  std::filesystem::path there = std::filesystem::absolute(folder);
  std::error_code error;
  while (!std::filesystem::exists(std::filesystem::symlink_status(there, error)) && there.has_relative_path())
    there = there.parent_path();
  if (!std::filesystem::is_directory(there, error)) fail("create the folder", folder, ENOTDIR);
  if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail("create the folder", folder, errno);
}

void require_file_or_free(const std::filesystem::path& path) {
  const Descriptor there = look_at(path);
  if (!there && errno == ELOOP) refuse_place(path, "a link to an open file");
  struct stat status {};
  if (!there || ::fstat(there.get(), &status) != 0) return;  // unused, or writing will report the error
  if (S_ISDIR(status.st_mode) && is_package_name(path)) return;
  if (S_ISDIR(status.st_mode)) fail("replace", path, EISDIR);
  if (!S_ISREG(status.st_mode)) refuse_place(path, name_of_kind(status.st_mode));
}

// Permissions do not cover everything (read-only file systems, /proc), so a file is created there and
// dropped.
void require_place(const std::filesystem::path& path) {
  if (is_package_name(path)) return require_folder_place(path);
  const OutputFile probe(path, 0);
}

OutputFile::OutputFile(std::filesystem::path path, std::uint64_t size, std::filesystem::path like)
    : path_(std::move(path)), like_(std::move(like)), size_(size) {
  require_file_or_free(path_);
  const std::filesystem::path folder = folder_of(path_);
  remove_leftovers_once(folder);
  // Before the commit, only users with access to the final file may read it.
  const std::optional<Permissions> kept = permissions_for(path_, like_);
  const mode_t mode = kept ? (kept->mode & kMode) | kOwn : kMode;
  descriptor_ = Descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (descriptor_) {
    lock_temporary(descriptor_.get());
  } else if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) {
    open_named(mode);
  }
  if (!descriptor_) fail("write", path_, errno);
  try {
    reserve();
  } catch (...) {
    if (has_its_name()) ::unlink(temporary_.c_str());
    throw;
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ && has_its_name()) ::unlink(temporary_.c_str());
}

// Another process may remove the file as a leftover before it is locked; then try another name.
void OutputFile::open_named(unsigned mode) {
  for (int i = 0; i < kAttempts; ++i) {
    temporary_ = temporary_path(path_);
    descriptor_ = Descriptor(::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode));
    if (!descriptor_ && errno != EEXIST) break;
    if (descriptor_ && lock_temporary(descriptor_.get()) && has_its_name()) return;
    descriptor_ = Descriptor();
    errno = EEXIST;
  }
  temporary_.clear();
}

bool OutputFile::has_its_name() const {
  return !temporary_.empty() && is_name_of(temporary_, descriptor_.get());
}

void OutputFile::reserve() const {
  if (size_ == 0) return;
  if (::fallocate(descriptor_.get(), 0, 0, static_cast<off_t>(size_)) == 0) return;
  if (errno == ENOSPC) {
    std::error_code ignored;
    const auto space = std::filesystem::space(folder_of(path_), ignored);
    throw Error(ErrorCode::kIo,
                fmt::format("not enough disk space: {} bytes needed, {} available", size_, space.available),
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
  return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_.get());  // works for other processes, too
}

Descriptor OutputFile::shared_lock() const {
  return Descriptor(::fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0));
}

// Only a hint: unlike fsync it reports no errors; flush() does.
void OutputFile::start_flush() {
  if (size_ < kFlushFrom) return;
  try {
    flusher_ =
        std::jthread([file = descriptor_.get()] { ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); });
  } catch (const std::system_error&) {
    // No thread available: flush() does all of the work.
  }
}

void OutputFile::flush() const {
  if (::fsync(descriptor_.get()) != 0) fail("flush", path_, errno);
}

// Gives the file a temporary name, from which it can be renamed atomically.
void OutputFile::get_name() {
  const std::filesystem::path open = unfinished_path();
  for (int i = 0; i < kAttempts; ++i) {
    std::filesystem::path name = temporary_path(path_);
    if (::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);  // needs no memory; from now on it is removed if anything fails
      return;
    }
    if (errno != EEXIST) break;
  }
  fail("write", path_, errno);
}

void OutputFile::commit(Flush flushes) {
  throw_if_file_was_cut();
  flusher_ = {};  // joins the thread
  if (const std::optional<Permissions> kept = permissions_for(path_, like_)) apply(*kept, descriptor_.get());
  if (flushes == Flush::kToDisk) flush();
  require_file_or_free(path_);  // may have changed since the constructor
  if (temporary_.empty()) get_name();
  if (!has_its_name())
    throw Error(ErrorCode::kIo,
                fmt::format("cannot replace: another program removed or replaced the temporary file '{}'; "
                            "nothing was written",
                            temporary_.filename().string()),
                path_.string());
  // rename() is atomic: readers see the old file or the new one.
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", path_, errno);
  temporary_.clear();
  descriptor_ = Descriptor();
  if (flushes == Flush::kToDisk) flush_folder(folder_of(path_));
}

namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr unsigned kGroupBits = 0070, kOtherBits = 0007, kOtherToGroup = 3;

std::string access_list_of(const std::filesystem::path& path) {
  std::string list(4096, '\0');  // more than 500 entries
  const ssize_t size = ::getxattr(path.c_str(), kAccessList, list.data(), list.size());
  list.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return list;
}

}  // namespace

std::optional<Permissions> Permissions::of(const std::filesystem::path& path) {
  struct stat entry {
  }, status{};
  if (::lstat(path.c_str(), &entry) != 0 || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  // Drop set-user-ID and sticky bits of files, which a model must not have.
  const unsigned kept = S_ISDIR(status.st_mode) ? 07777 : 0777;
  return Permissions{status.st_mode & kept, status.st_uid, status.st_gid, access_list_of(path),
                     S_ISLNK(entry.st_mode)};
}

void apply(const Permissions& permissions, int descriptor) {
  struct stat now {};
  if (::fstat(descriptor, &now) != 0) return;
  const bool keeps_group =
      now.st_gid == permissions.group ||
      (!permissions.is_of_link && ::fchown(descriptor, now.st_uid, permissions.group) == 0);
  // With an access list, the group bits limit all its entries.
  const std::string& list = permissions.access_list;
  const bool has_list = !list.empty();
  const bool keeps_list =
      has_list && keeps_group && ::fsetxattr(descriptor, kAccessList, list.data(), list.size(), 0) == 0;
  unsigned mode = permissions.mode;
  if (!keeps_group || (has_list && !keeps_list)) mode &= ~kGroupBits | (mode & kOtherBits) << kOtherToGroup;
  if (!keeps_list || mode != permissions.mode) ::fchmod(descriptor, mode);
  // Last, because a file of another user can no longer be changed.
  if (now.st_uid != permissions.owner && keeps_group && !permissions.is_of_link &&
      ::fchown(descriptor, permissions.owner, permissions.group) != 0)
    return;  // only root may change the owner
}

namespace {

constexpr std::chrono::seconds kLongestWait{10};  // for a stopped writer, or a lock of another program
constexpr std::chrono::milliseconds kPause{5};

}  // namespace

ReplaceLock::ReplaceLock(const std::filesystem::path& path) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (std::chrono::steady_clock::now() < end) {
    // Do not follow links, because the name itself is replaced. Opening a pipe must not block.
    file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file_) return;  // the name is unused
    const bool is_locked = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    if (!is_locked && errno != EWOULDBLOCK) return;
    if (is_locked && is_name_of(path, file_.get())) return;
    if (!is_locked) std::this_thread::sleep_for(kPause);
  }
}

namespace {

constexpr unsigned kFolderMode = 0777;  // before the umask
constexpr unsigned kOwnFolder = 0700;   // needed by this process until the commit

std::filesystem::path without_slash(const std::filesystem::path& path) {
  const std::filesystem::path plain = path.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

}  // namespace

OutputFolder::OutputFolder(std::filesystem::path place, Existing existing)
    : place_(without_slash(place)), existing_(existing) {
  require_place();
  const std::filesystem::path parent = folder_of(place_);
  remove_leftovers_once(parent);
  const std::optional<Permissions> kept = Permissions::of(place_);
  open_ = make_temporary_folder(
      parent, [&] { return temporary_output_name(place_.filename().string()); },
      kept ? kept->mode | kOwnFolder : kFolderMode, path_);
  if (!open_) fail("create the folder", place_, errno);
}

OutputFolder::~OutputFolder() {
  if (open_) remove_temporary_folder(path_, std::move(open_));
}

void OutputFolder::require_place() const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(place_, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_directory(status))
    throw Error(ErrorCode::kUsage, "exists and is not a folder; choose another `output`", place_.string());
  if (existing_ == Existing::kReplace || std::filesystem::is_empty(place_, error)) return;
  throw Error(ErrorCode::kUsage, "exists and is not empty; choose another `output`, or use `replace=true`",
              place_.string());
}

std::filesystem::path OutputFolder::place_for(const std::filesystem::path& relative) const {
  const std::filesystem::path plain = relative.lexically_normal();
  if (plain.empty() || plain.is_absolute() || *plain.begin() == "..")
    throw Error(ErrorCode::kInternal, "a file would be written outside of the folder", relative.string());
  const std::filesystem::path place = path_ / plain;
  std::error_code error;
  std::filesystem::create_directories(place.parent_path(), error);
  if (error) fail("create the folder", place.parent_path(), error.message());
  return place;
}

void OutputFolder::copy(const std::filesystem::path& file, const std::filesystem::path& relative) const {
  constexpr std::size_t kChunk = std::size_t{8} << 20;
  const MappedFile source = MappedFile::open(file);
  OutputFile output(place_for(relative), source.bytes().size());
  for (std::size_t at = 0; at < source.bytes().size(); at += kChunk)
    output.write(at, source.bytes().substr(at, kChunk));
  output.commit();
}

void OutputFolder::commit() {
  throw_if_file_was_cut();
  require_place();  // may have changed since the constructor
  if (!is_name_of(path_, open_.get()))
    fail("write", place_,
         fmt::format("another program removed or replaced the temporary folder '{}'",
                     path_.filename().string()));
  if (const std::optional<Permissions> kept = Permissions::of(place_)) apply(*kept, open_.get());
  std::error_code error;
  if (!std::filesystem::exists(place_, error) || std::filesystem::is_empty(place_, error)) {
    if (::rename(path_.c_str(), place_.c_str()) != 0) fail("write", place_, errno);
    open_ = Descriptor();
  } else {
    // Exchanges the two folders; the destructor then removes the old one. If this process is killed in
    // between, the next one removes it, because it has a temporary name.
    Descriptor old(::open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) != 0)
      fail("replace", place_, errno);
    open_ = std::move(old);
  }
  const Descriptor parent(::open(folder_of(place_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) ::fsync(parent.get());  // some file systems cannot flush a folder; its content is already safe
}

}  // namespace ounce::io
