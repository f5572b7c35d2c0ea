// Makes the next reader of a file wait for the disk, as the first one after a reboot does.
#pragma once

#include <filesystem>

namespace ounce::io {

// Asks the kernel to forget the file's pages. False when some stay: others have the file open, or the file
// system keeps everything in memory.
bool drop_from_cache(const std::filesystem::path& path);

}  // namespace ounce::io
