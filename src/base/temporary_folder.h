// A folder of our own that goes away with us. The next process removes it if this one is killed
// (base/temporary_name.h).
#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace ounce {

class TemporaryFolder {
 public:
  // Below the system's folder for such things; `purpose` is a word of lower case letters. Throws Error{kIo}.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor open_;  // holds the lock
};

}  // namespace ounce
