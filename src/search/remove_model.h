// Models that were made for measuring go away with their external data.
#pragma once

#include <filesystem>

namespace ounce::search {

// The file, and all beside it whose names begin with its name.
inline void remove_model(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with(file.filename().string()))
      std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace ounce::search
