// Who may read and write a file that takes the place of another one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ounce::io {

struct Permissions {
  unsigned mode = 0, owner = 0, group = 0;
  std::string access_list = {};  // POSIX ACL in the form of the kernel; empty without
  bool is_of_link = false;       // whoever can make a link does not decide who owns what replaces it

  // Of what `path` leads to; nothing if it leads to nothing.
  static std::optional<Permissions> of(const std::filesystem::path& path);
};

// Gives the file or folder that `descriptor` has open these permissions. If the group cannot be kept, the new
// group gets no more than everybody has. The owner is kept where the system allows it, which is for root.
void apply(const Permissions& permissions, int descriptor);

}  // namespace ounce::io
