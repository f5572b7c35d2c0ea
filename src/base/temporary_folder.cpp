#include "base/temporary_folder.h"

#include <ounce/error.h>
#include <stdlib.h>

namespace ounce {

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string name = (std::filesystem::temp_directory_path() / ("ounce-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::kIo, "cannot make a temporary folder", name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ounce
