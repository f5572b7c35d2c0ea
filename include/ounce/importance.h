// Importance files: the error reduction that more bits bring to each layer (QuantizeOptions::importance).
#pragma once

#include <filesystem>
#include <vector>

namespace ounce {

// True if `file` is an importance file.
bool is_importance(const std::filesystem::path& file);

// Writes the mean of several importance files, weighted by their samples, to `output`. Throws Error{kUsage}
// for files of different models or formats.
void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output);

}  // namespace ounce
