#include <ounce/runtime.h>

#include "runtime/library.h"

namespace ounce {

bool has_runtime() noexcept { return true; }

std::vector<std::string> installed_runtimes() {
  std::vector<std::string> versions;
  for (const auto& path : runtime::Library::installed())
    versions.push_back(path.parent_path().parent_path().filename().string());
  return versions;
}

}  // namespace ounce
