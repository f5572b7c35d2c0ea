// Names of models that are folders: Core ML packages.
#pragma once

#include <filesystem>

namespace ounce {

// True if the name is that of a package. A trailing slash is allowed.
inline bool is_package_name(const std::filesystem::path& path) {
  const std::filesystem::path name = path.has_filename() ? path : path.parent_path();
  return name.extension() == ".mlpackage";
}

}  // namespace ounce
