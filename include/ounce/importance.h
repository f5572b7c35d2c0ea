// Files of importance: what more bits bring to each layer of a model (QuantizeOptions::importance).
#pragma once

#include <filesystem>
#include <vector>

namespace ounce {

bool is_importance(const std::filesystem::path& file);

// What they say together: means over their samples. Error{kUsage} if they are of different models or formats.
void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output);

}  // namespace ounce
