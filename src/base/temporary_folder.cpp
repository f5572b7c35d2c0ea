#include "base/temporary_folder.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cerrno>
#include <cstring>

#include "base/temporary_name.h"

namespace ounce {
namespace {
constexpr int kRemovals = 2;
constexpr unsigned kPrivate = 0700;
}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  const std::filesystem::path parent = std::filesystem::temp_directory_path();
  remove_leftovers_once(parent);
  open_ = make_temporary_folder(
      parent, [&] { return temporary_folder_name(purpose); }, kPrivate, path_);
  if (!open_)
    throw Error(ErrorCode::kIo, fmt::format("cannot make a temporary folder: {}", std::strerror(errno)),
                parent.string());
}

// Looking into the folder takes memory and a descriptor. If there is none, there may be one a moment later.
TemporaryFolder::~TemporaryFolder() {
  for (int i = 0; i < kRemovals; ++i) {
    if (remove_temporary_folder(path_, open_.get())) return;
  }
}

}  // namespace ounce
