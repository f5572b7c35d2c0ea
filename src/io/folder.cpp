#include "io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace ounce::io {
namespace {

struct Close {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error) {
  error.clear();
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
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

void require_folder_place(const std::filesystem::path& folder) {
  std::filesystem::path there = std::filesystem::absolute(folder);
  std::error_code error;
  while (!std::filesystem::exists(std::filesystem::symlink_status(there, error)) && there.has_relative_path())
    there = there.parent_path();
  const auto refuse = [&](int why) {
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder: {}", std::strerror(why)),
                folder.string());
  };
  if (!std::filesystem::is_directory(there, error)) refuse(ENOTDIR);
  if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) != 0) refuse(errno);
}

}  // namespace ounce::io
