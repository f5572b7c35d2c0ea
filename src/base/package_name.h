// Models that are folders: Core ML packages.
#pragma once

#include <filesystem>

namespace ounce {

// Does the name say that a model is a folder? One with a slash at its end is meant, too.
inline bool is_package_name(const std::filesystem::path& path) {
  const std::filesystem::path name = path.has_filename() ? path : path.parent_path();
  return name.extension() == ".mlpackage";
}

}  // namespace ounce
