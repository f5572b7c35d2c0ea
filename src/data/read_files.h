// The files that data is read from: they must exist before the work, and no output may replace one of them.
#pragma once

#include <ounce/data.h>

#include <filesystem>

namespace ounce::data {

// Is `file` read when this data is? The file itself, a sample of a folder, or what a list names; links count
// as what they lead to. What is in a folder and is no sample is not read.
bool is_read_from(const DataOptions& data, const std::filesystem::path& file);

// Checks before the work that every file and folder of the data is there. Throws Error{kIo}.
void require_files(const DataOptions& data);

}  // namespace ounce::data
