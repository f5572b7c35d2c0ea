// A folder that appears whole or not at all.
//
//   OutputFolder out("bert-onnx", OutputFolder::Existing::kRefuse);
//   … write files below out.path() …
//   out.commit();                    // takes the place of "bert-onnx" in one step
//
// Until then it stands beside its place with a hidden name; the destructor removes it. A process that is
// killed leaves that hidden folder and nothing else, and the next one that writes there removes it
// (io/temporary_files.h). A folder that is replaced leaves its permissions to the new one.
#pragma once

#include <filesystem>

#include "io/descriptor.h"

namespace ounce::io {

class OutputFolder {
 public:
  enum class Existing { kRefuse, kReplace };  // a folder that holds something

  // Throws Error{kUsage} when something stands in its place that may not be replaced, or that is no folder,
  // and Error{kIo}.
  OutputFolder(std::filesystem::path place, Existing existing);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Copies a file into it, whole or not at all, to `relative`, which stays inside.
  void copy(const std::filesystem::path& file, const std::filesystem::path& relative) const;
  // Makes the folders above `relative` and gives its path.
  std::filesystem::path place_for(const std::filesystem::path& relative) const;

  void commit();

 private:
  void require_place() const;

  std::filesystem::path place_, path_;
  Descriptor open_;  // what path_ names, and its lock
  Existing existing_;
};

}  // namespace ounce::io
