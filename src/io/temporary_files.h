// Temporary files and folders: unique names, and removal of those left by killed processes.
//
//   output of OutputFile, OutputFolder    .NAME.ounce-0123456789abcdef.part, in the folder of NAME
//   TemporaryFolder                       ounce-PURPOSE-0123456789abcdef, in TMPDIR
//
// The digits are random and names are created exclusively (O_EXCL, mkdir, link), so writers never share one;
// a process ID would be unique only within a container. The writer holds an exclusive flock() on its file or
// folder. The kernel releases the lock when the process ends for any reason, also across containers of the
// machine. remove_leftovers() removes an entry only if its name has this form, it belongs to this user, and
// it is not locked.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "io/descriptor.h"

namespace ounce {

// A temporary name, of at most 255 bytes, for the unfinished file `name`.
std::string temporary_output_name(const std::string& name);
std::string temporary_folder_name(const std::string& purpose);
bool is_temporary_name(std::string_view name);

// Locks a temporary file or folder that this process has just created. Returns false if remove_leftovers() of
// another process was faster; the caller then creates another one. Returns true on file systems without
// locks, where remove_leftovers() removes nothing.
bool lock_temporary(int descriptor) noexcept;

// True if `path` is a name of the file or folder open at `descriptor`. Does not follow symbolic links.
bool is_name_of(const std::filesystem::path& path, int descriptor) noexcept;

// Creates a folder below `parent`, opens and locks it, and sets `path` to it. On failure returns an empty
// descriptor, leaves `path` unchanged, and sets errno.
io::Descriptor make_temporary_folder(const std::filesystem::path& parent,
                                     const std::function<std::string()>& next_name, unsigned mode,
                                     std::filesystem::path& path);

// Removes a folder with all its content, if `path` is still its name. Returns false if something remains.
// Needs no descriptor except the folder's own, which it closes.
bool remove_temporary_folder(const std::filesystem::path& path, io::Descriptor descriptor) noexcept;

// Removes leftovers of killed processes from `folder`.
void remove_leftovers(const std::filesystem::path& folder) noexcept;
// The same, but only once per process: for writers of many files in one folder.
void remove_leftovers_once(const std::filesystem::path& folder) noexcept;

// A temporary folder that the destructor removes, or the next process if this one is killed.
class TemporaryFolder {
 public:
  // Creates it in the system's temporary folder; `purpose` is a word of lower-case letters. Throws
  // Error{kIo}.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  io::Descriptor open_;  // has the lock
};

}  // namespace ounce
