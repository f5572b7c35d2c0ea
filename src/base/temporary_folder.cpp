#include "base/temporary_folder.h"

#include <ounce/error.h>
#include <stdlib.h>

#include <new>
#include <system_error>

namespace ounce {
namespace {
constexpr int kAttempts = 2;
}

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string name = (std::filesystem::temp_directory_path() / ("ounce-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::kIo, "cannot make a temporary folder", name);
  path_ = name;
}

// Looking into the folder takes memory and a descriptor. If there is none, there may be one a moment later.
TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  for (int i = 0; i < kAttempts; ++i) {
    try {
      std::filesystem::remove_all(path_, error);
      if (!error) return;
    } catch (const std::bad_alloc&) {
    }
  }
}

}  // namespace ounce
