// What is in a folder. std::filesystem::directory_iterator ends the process when there is no memory for it.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace ounce::io {

// Without "." and "..", in no order; empty when `error` says why the folder cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error);

}  // namespace ounce::io
