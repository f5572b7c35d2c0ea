// A folder of our own that goes away with us.
#pragma once

#include <filesystem>
#include <string>

namespace ounce {

class TemporaryFolder {
 public:
  // Below the system's folder for such things. Throws Error{kIo}.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ounce
