// What is in a folder. std::filesystem::directory_iterator ends the process when there is no memory for it.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace ounce::io {

// Without "." and "..", in no order; empty when `error` says why the folder cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error);

// Checks before the work that a folder can be made with all that is missing above it, or is there and accepts
// files. Throws Error{kIo}.
void require_folder_place(const std::filesystem::path& folder);

}  // namespace ounce::io
