#include "io/mapped_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <ounce/error.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "io/descriptor.h"

namespace ounce::io {
namespace {

constexpr std::size_t kReleaseAtOnce = std::size_t{16} << 20;

// O_NONBLOCK: opening a FIFO must not wait for a writer; it has no effect on regular files.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

Error open_error(const std::filesystem::path& path, int error) {
  return {ErrorCode::kIo, fmt::format("cannot open: {}", std::strerror(error)), path.string()};
}

// For kernels without openat2 (before 5.6): resolves the path, then compares.
int open_beneath_by_comparison(const std::filesystem::path& folder, const std::filesystem::path& relative) {
  std::error_code error;
  const auto root = std::filesystem::canonical(folder, error);
  if (error) return errno = ENOENT, -1;
  const auto target = std::filesystem::canonical(root / relative, error);
  if (error) return errno = ENOENT, -1;
  const auto inside = std::filesystem::relative(target, root, error);
  if (error || inside.empty() || *inside.begin() == "..") return errno = EXDEV, -1;
  return ::open(target.c_str(), kReadFlags);
}

int open_beneath_descriptor(const std::filesystem::path& folder, const std::filesystem::path& relative) {
  const Descriptor root(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return -1;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(kReadFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long descriptor = ::syscall(SYS_openat2, root.get(), relative.c_str(), &how, sizeof how);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
    return open_beneath_by_comparison(folder, relative);
  return static_cast<int>(descriptor);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

void require_readable(const std::filesystem::path& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) throw open_error(path, errno);
}

MappedFile MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), kReadFlags);
  if (descriptor < 0) throw open_error(path, errno);
  return map(descriptor, path);
}

MappedFile MappedFile::open_beneath(const std::filesystem::path& folder,
                                    const std::filesystem::path& relative) {
  const int descriptor = open_beneath_descriptor(folder, relative);
  if (descriptor >= 0) return map(descriptor, folder / relative);
  if (errno == EXDEV || errno == ELOOP) {
    throw Error(ErrorCode::kBadInput,
                "leads outside of the model's folder; copy the file there instead of linking it",
                relative.string());
  }
  throw open_error(folder / relative, errno);
}

MappedFile MappedFile::map(int raw_descriptor, std::filesystem::path path) {
  const Descriptor descriptor(raw_descriptor);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) throw open_error(path, errno);
  if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::kIo, "is a folder, not a file", path.string());
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::kIo, "is not a regular file", path.string());
  MappedFile file;
  file.device_ = status.st_dev;
  file.inode_ = status.st_ino;
  file.path_ = std::move(path);
  file.mapping_ = std::make_shared<Mapping>();
  if (status.st_size == 0) return file;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (address == MAP_FAILED)
    throw Error(ErrorCode::kIo, fmt::format("cannot map: {}", std::strerror(errno)), file.path_.string());
  file.mapping_->bytes = {static_cast<const char*>(address), size};
  file.mapping_->guard = FileGuard(file.bytes(), file.path_);
  return file;
}

MappedFile::Mapping::~Mapping() {
  guard = {};  // before the addresses are unmapped
  if (!bytes.empty()) ::munmap(const_cast<char*>(bytes.data()), bytes.size());
}

bool MappedFile::contains(std::string_view view) const {
  const std::less_equal<const char*> not_after;
  return !view.empty() && not_after(bytes().data(), view.data()) &&
         not_after(view.data() + view.size(), bytes().data() + bytes().size());
}

void MappedFile::release(std::string_view view) const {
  if (!contains(view)) return;
  // Releasing pages interrupts all CPUs that run threads of this process, so small pieces are only counted.
  // When they add up to enough, the pages of the whole file are released; other readers get them again from
  // the page cache.
  std::atomic<std::size_t>& released = mapping_->released;
  if (released.fetch_add(view.size(), std::memory_order_relaxed) + view.size() < kReleaseAtOnce) return;
  released.store(0, std::memory_order_relaxed);
  ::madvise(const_cast<char*>(bytes().data()), bytes().size(), MADV_DONTNEED);
}

bool MappedFile::same_file_as(const std::filesystem::path& other) const {
  struct stat status {};
  return ::stat(other.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool drop_from_cache(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_size == 0) return false;
  ::fdatasync(file.get());  // dirty pages cannot be dropped
  if (::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return false;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  const bool is_known = ::mincore(mapped, size, pages.data()) == 0;
  ::munmap(mapped, size);
  return is_known &&
         std::none_of(pages.begin(), pages.end(), [](unsigned char state) { return (state & 1) != 0; });
}

std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error) {
  error.clear();
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  errno = open ? 0 : errno;
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno == 0) return names;
  error.assign(errno, std::generic_category());
  return {};
}

}  // namespace ounce::io
