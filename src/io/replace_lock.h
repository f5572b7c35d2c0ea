// One writer at a time replaces a file and removes what only the old file needed.
//
//   const ReplaceLock lock(path);
//   const Descriptor next = output.shared_lock();    // who finds the new file waits as well
//   … see what stands at `path`, replace it, remove the data files that only the old one named …
//
// Without it, a second writer may put a model in place between the two steps whose data the first one then
// removes. The lock is an flock() on the file that stands at `path`. It is given up after some seconds, and
// where the file system has no locks.
#pragma once

#include <filesystem>

#include "io/descriptor.h"

namespace ounce::io {

class ReplaceLock {
 public:
  explicit ReplaceLock(const std::filesystem::path& path);

  // Whether there is a file to replace. One that appears later was written by another writer: it is replaced as
  // well, and what it needs stays.
  bool has_file() const { return static_cast<bool>(file_); }

 private:
  Descriptor file_;
};

}  // namespace ounce::io
