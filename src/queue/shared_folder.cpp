#include "queue/shared_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace ounce::queue {
namespace {

constexpr std::size_t kMostLetters = 128;

[[noreturn]] void refuse(const std::string& what, int error, const std::filesystem::path& where) {
  throw Error(ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(error)), where.string());
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  };
  return !name.empty() && name.size() <= kMostLetters && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_plain);
}

SharedFolder::SharedFolder(const std::filesystem::path& parent, const std::string& name)
    : path_(parent / name) {
  if (::mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) refuse("cannot create the folder", errno, path_);
  open_ = io::Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open_) refuse("cannot open the folder", errno, path_);
}

std::vector<std::string> SharedFolder::names() const {
  // A descriptor of its own, because a position in a folder belongs to the open file.
  const int again = ::openat(open_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) refuse("cannot read the folder", errno, path_);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(again), ::closedir);
  if (folder == nullptr) refuse("cannot read the folder", errno, path_);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (is_plain_name(entry->d_name)) names.emplace_back(entry->d_name);
    if (names.size() >= kMostNames) break;
  }
  return names;
}

bool SharedFolder::has(const std::string& name) const {
  struct stat status {};
  return ::fstatat(open_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::optional<std::string> SharedFolder::read(const std::string& name, std::size_t most) const {
  const io::Descriptor file(
      ::openat(open_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(status.st_size) > most) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t part = ::pread(file.get(), text.data() + got, text.size() - got, static_cast<off_t>(got));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    got += static_cast<std::size_t>(part);
  }
  text.resize(got);
  return text;
}

void SharedFolder::overwrite(const std::string& name, std::string_view text) const {
  const io::Descriptor file(
      ::openat(open_.get(), name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file || ::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    refuse("cannot write", errno, path_ / name);
}

void SharedFolder::remove(const std::string& name) const { ::unlinkat(open_.get(), name.c_str(), 0); }

bool SharedFolder::publish(const std::string& name, std::string_view text, const SharedFolder& drafts,
                           const std::string& unfinished, Flush flushes) const {
  drafts.remove(unfinished);
  io::Descriptor file(::openat(drafts.open_.get(), unfinished.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) refuse("cannot write", errno, drafts.path_ / unfinished);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t part = ::write(file.get(), text.data() + at, text.size() - at);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) refuse("cannot write: is the disk full?", errno, drafts.path_ / unfinished);
    at += static_cast<std::size_t>(part);
  }
  if (flushes == Flush::kToDisk && ::fsync(file.get()) != 0)
    refuse("cannot write: is the disk full?", errno, drafts.path_ / unfinished);
  const int failed =
      ::linkat(drafts.open_.get(), unfinished.c_str(), open_.get(), name.c_str(), 0) == 0 ? 0 : errno;
  // The reply of a server may be lost, and its repetition finds the name taken: two links say that it worked.
  struct stat status {};
  const bool is_ours = failed == 0 || (::fstat(file.get(), &status) == 0 && status.st_nlink == 2);
  drafts.remove(unfinished);
  if (!is_ours && failed != EEXIST) refuse("cannot create", failed, path_ / name);
  return is_ours;
}

}  // namespace ounce::queue
