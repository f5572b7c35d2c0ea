// Models that were made for measuring go away with their external data.
#pragma once

#include <filesystem>

#include "io/folder.h"

namespace ounce::search {

// The file, and all beside it whose names begin with its name.
inline void remove_model(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const std::string& name : io::names_in(file.parent_path(), ignored)) {
    if (name.starts_with(file.filename().string()))
      std::filesystem::remove(file.parent_path() / name, ignored);
  }
}

}  // namespace ounce::search
