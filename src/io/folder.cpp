#include "io/folder.h"

#include <dirent.h>

#include <cerrno>
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

}  // namespace ounce::io
