#include "io/temporary_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/numbers.h"

namespace ounce {
namespace {

constexpr std::size_t kRandomDigits = 16;
constexpr std::string_view kOutputMark = ".ounce-", kOutputEnd = ".part", kFolderMark = "ounce-";
constexpr std::size_t kLongestName = 200;  // leaves room for the suffix in the 255 bytes of a file name
constexpr int kAttempts = 100;  // to find an unused name; with 64 random bits the first one suffices
constexpr int kDeepest = 64;    // nested folders, each of which needs a descriptor
constexpr std::size_t kMostRemembered = 256;
constexpr std::time_t kDay = 24 * 60 * 60;

std::string random_digits() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bits)) {
    // Names need not be secret: if one is in use, another is tried.
    static std::atomic<std::uint64_t> calls = 0;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    bits =
        Random(static_cast<std::uint64_t>(now) ^ static_cast<std::uint64_t>(::getpid()) << 40 ^ ++calls << 20)
            .bits();
  }
  return fmt::format("{:016x}", bits);
}

bool are_digits(std::string_view text) {
  return text.size() == kRandomDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "….ounce-0123456789abcdef.part"
bool is_output_name(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kOutputEnd)) return false;
  name.remove_prefix(1);
  name.remove_suffix(kOutputEnd.size());
  if (name.size() <= kOutputMark.size() + kRandomDigits) return false;
  return are_digits(name.substr(name.size() - kRandomDigits)) &&
         name.substr(0, name.size() - kRandomDigits).ends_with(kOutputMark);
}

// "ounce-…-0123456789abcdef"
bool is_folder_name(std::string_view name) {
  if (!name.starts_with(kFolderMark)) return false;
  name.remove_prefix(kFolderMark.size());
  const std::size_t dash = name.rfind('-');
  if (dash == 0 || dash == std::string_view::npos || !are_digits(name.substr(dash + 1))) return false;
  return std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(dash),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// Uses the descriptor itself, so no second one is needed. On failure the result is empty and the descriptor
// unchanged.
OpenFolder read_by(io::Descriptor& descriptor) {
  OpenFolder folder(::fdopendir(descriptor.get()));
  if (folder) descriptor.release();
  return folder;
}

bool is_dots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// Uses descriptors at all levels: a name that meanwhile became a link cannot lead outside.
bool remove_contents(DIR* folder, dev_t device, int depth) {
  if (depth > kDeepest) return false;
  bool is_empty = true;
  while (const dirent* entry = ::readdir(folder)) {
    if (is_dots(entry->d_name) || ::unlinkat(::dirfd(folder), entry->d_name, 0) == 0) continue;
    io::Descriptor inner(
        ::openat(::dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    const bool is_ours = inner && ::fstat(inner.get(), &status) == 0 && status.st_dev == device;
    const OpenFolder below = is_ours ? read_by(inner) : nullptr;
    if (!below || !remove_contents(below.get(), device, depth + 1) ||
        ::unlinkat(::dirfd(folder), entry->d_name, AT_REMOVEDIR) != 0)
      is_empty = false;
  }
  return is_empty;
}

// File systems that several machines may share, with separate locks on each machine.
bool may_be_shared(int folder) {
  constexpr std::uint32_t kShared[] = {
      0x6969,      // NFS
      0x517b,      // SMB
      0xfe534d42,  // SMB 2
      0xff534d42,  // CIFS
      0x65735546,  // FUSE, virtiofs
      0x01021997,  // 9P
      0x00c36400,  // Ceph
      0x0bd00bd0,  // Lustre
      0x5346414f,  // AFS
      0x01161970,  // GFS2
      0x7461636f,  // OCFS2
  };
  struct statfs status {};
  if (::fstatfs(folder, &status) != 0) return true;
  return std::find(std::begin(kShared), std::end(kShared), static_cast<std::uint32_t>(status.f_type)) !=
         std::end(kShared);
}

bool is_old(const struct stat& status) {
  return std::max(status.st_mtim.tv_sec, status.st_ctim.tv_sec) + kDay < std::time(nullptr);
}

bool is_entry_of(int folder, const char* name, const struct stat& opened) {
  struct stat named {};
  return ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

void remove_if_abandoned(int folder, const char* name, bool is_shared) {
  struct stat named {
  }, opened{};
  if (::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_uid != ::geteuid()) return;
  const bool is_folder = S_ISDIR(named.st_mode);
  if (!is_folder && !S_ISREG(named.st_mode)) return;
  // Locks on NFS need a file opened for writing.
  const int how = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR;
  io::Descriptor entry(::openat(folder, name, how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!entry || ::flock(entry.get(), LOCK_EX | LOCK_NB) != 0) return;  // its writer is running
  if (::fstat(entry.get(), &opened) != 0 || opened.st_uid != ::geteuid() ||
      !is_entry_of(folder, name, opened) || (is_shared && !is_old(opened)))
    return;
  if (!is_folder) {
    ::unlinkat(folder, name, 0);
    return;
  }
  const OpenFolder inside = read_by(entry);
  if (inside && remove_contents(inside.get(), opened.st_dev, 0)) ::unlinkat(folder, name, AT_REMOVEDIR);
}

// True on the first call for a folder. Compares the name, too, because the inode number of a removed folder
// may be reused.
bool is_first_look(const std::filesystem::path& path, int folder) {
  struct stat status {};
  if (::fstat(folder, &status) != 0) return false;
  static auto* const mutex = new std::mutex;
  static auto* const seen = new std::set<std::tuple<dev_t, ino_t, std::string>>;
  const std::lock_guard lock(*mutex);
  if (seen->size() >= kMostRemembered) seen->clear();
  return seen->emplace(status.st_dev, status.st_ino, path.string()).second;
}

void look_for_leftovers(const std::filesystem::path& path, bool once) noexcept {
  try {
    io::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || (once && !is_first_look(path, folder.get()))) return;
    const bool is_shared = may_be_shared(folder.get());
    const OpenFolder entries = read_by(folder);
    while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
      if (is_temporary_name(entry->d_name))
        remove_if_abandoned(::dirfd(entries.get()), entry->d_name, is_shared);
    }
  } catch (const std::exception&) {
    // No memory. The next process will clean up.
  }
}

}  // namespace

std::string temporary_output_name(const std::string& name) {
  std::string_view start = name;
  if (start.size() > kLongestName) {
    start = start.substr(0, kLongestName);
    // Some file systems reject incomplete UTF-8 characters.
    while (!start.empty() && (static_cast<unsigned char>(name[start.size()]) & 0xc0) == 0x80)
      start.remove_suffix(1);
  }
  return fmt::format(".{}{}{}{}", start, kOutputMark, random_digits(), kOutputEnd);
}

std::string temporary_folder_name(const std::string& purpose) {
  return fmt::format("{}{}-{}", kFolderMark, purpose, random_digits());
}

bool is_temporary_name(std::string_view name) { return is_output_name(name) || is_folder_name(name); }

bool lock_temporary(int descriptor) noexcept {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool is_name_of(const std::filesystem::path& path, int descriptor) noexcept {
  struct stat opened {};
  return ::fstat(descriptor, &opened) == 0 && is_entry_of(AT_FDCWD, path.c_str(), opened);
}

io::Descriptor make_temporary_folder(const std::filesystem::path& parent,
                                     const std::function<std::string()>& next_name, unsigned mode,
                                     std::filesystem::path& path) {
  errno = EEXIST;
  for (int i = 0; i < kAttempts; ++i) {
    std::filesystem::path candidate = parent / next_name();
    if (::mkdir(candidate.c_str(), mode) != 0) {
      if (errno == EEXIST) continue;
      break;
    }
    io::Descriptor made(::open(candidate.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made && errno != ENOENT) {
      const int why = errno;
      ::rmdir(candidate.c_str());
      errno = why;
      break;
    }
    if (made && lock_temporary(made.get()) && is_name_of(candidate, made.get())) {
      path = std::move(candidate);
      return made;
    }
    errno = EEXIST;
  }
  return io::Descriptor();
}

bool remove_temporary_folder(const std::filesystem::path& path, io::Descriptor descriptor) noexcept {
  constexpr int kTries = 2;
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0 || !is_name_of(path, descriptor.get()))
    return true;  // already removed
  // Reading a folder needs memory, and nested folders need descriptors. If none is available, retry shortly.
  OpenFolder folder;
  for (int i = 0; i < kTries && !folder; ++i) folder = read_by(descriptor);
  for (int i = 0; i < kTries && folder; ++i) {
    if (remove_contents(folder.get(), status.st_dev, 0) && ::rmdir(path.c_str()) == 0) return true;
    ::rewinddir(folder.get());
  }
  return false;
}

void remove_leftovers(const std::filesystem::path& folder) noexcept { look_for_leftovers(folder, false); }
void remove_leftovers_once(const std::filesystem::path& folder) noexcept { look_for_leftovers(folder, true); }

namespace {

constexpr unsigned kPrivate = 0700;

// The variables that std::filesystem::temp_directory_path() uses, in its order.
std::string place_of_temporary_files() {
  for (const char* const variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* const value = ::getenv(variable); value != nullptr)
      return fmt::format("{}={}", variable, value);
  }
  return "/tmp";
}

[[noreturn]] void cannot_make_folder(const std::string& why) {
  throw Error(ErrorCode::kIo,
              fmt::format("cannot create a temporary folder: {}; set TMPDIR to a writable folder", why),
              place_of_temporary_files());
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) cannot_make_folder(error.message());
  remove_leftovers_once(parent);
  open_ = make_temporary_folder(
      parent, [&] { return temporary_folder_name(purpose); }, kPrivate, path_);
  if (!open_) cannot_make_folder(std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() { remove_temporary_folder(path_, std::move(open_)); }

}  // namespace ounce
