#include "runtime/own_folders.h"

#include <dlfcn.h>

#include <algorithm>

namespace ounce::runtime {

namespace fs = std::filesystem;

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    std::error_code ignored;
    const fs::path folder = fs::canonical(file, ignored).parent_path();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  add("/proc/self/exe");
  // In a program this is what it was called as, and a name without a folder is found anywhere but here.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname != nullptr &&
      fs::path(info.dli_fname).has_parent_path())
    add(info.dli_fname);
  return folders;
}

}  // namespace ounce::runtime
