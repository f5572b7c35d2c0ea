// Where this code lies, so that what belongs to it is found wherever somebody has put it: the folder of the
// running program, and that of the library when the program is somebody else's (a Python interpreter).
#pragma once

#include <filesystem>
#include <vector>

namespace ounce::runtime {

std::vector<std::filesystem::path> own_folders();

}  // namespace ounce::runtime
