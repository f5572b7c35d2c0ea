// Which files data is read from, so that nothing that is written takes the place of one.
#pragma once

#include <ounce/data.h>

#include <filesystem>

namespace ounce::data {

// Is `file` read when this data is? The file itself, a sample of a folder, or what a list names; links count
// as what they lead to. What is in a folder and is no sample is not read.
bool is_read_from(const DataOptions& data, const std::filesystem::path& file);

}  // namespace ounce::data
