// Temporary files and folders: unique names, and removal of those whose writer was killed.
//
//   output of OutputFile, OutputFolder    .NAME.ounce-0123456789abcdef.part, in the folder of NAME
//   TemporaryFolder                       ounce-PURPOSE-0123456789abcdef, in TMPDIR
//
// The digits are random and names are created exclusively (O_EXCL, mkdir, link), so that two writers never
// share one: a process ID is unique in one container only. The writer holds an exclusive flock() on its file
// or folder. The kernel drops the lock when the process ends, however it ends, and shows it to all containers
// of the machine. remove_leftovers() removes an entry only if its name has this form, it belongs to this
// user, and its lock is free.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "io/descriptor.h"

namespace ounce {

// A name for the unfinished `name`, of at most 255 bytes.
std::string temporary_output_name(const std::string& name);
std::string temporary_folder_name(const std::string& purpose);
bool is_temporary_name(std::string_view name);

// Locks a temporary file or folder that this process has just created. False if remove_leftovers() of
// another process was faster: create another one then. True if the file system has no locks:
// remove_leftovers() removes nothing there.
bool lock_temporary(int descriptor) noexcept;

// Whether `path` is a name of the file or folder that `descriptor` has open. Follows no symbolic link.
bool is_name_of(const std::filesystem::path& path, int descriptor) noexcept;

// Creates a folder below `parent`, opens and locks it. `path` is its path, unchanged on failure:
// then the descriptor is empty and errno says why.
io::Descriptor make_temporary_folder(const std::filesystem::path& parent,
                                     const std::function<std::string()>& next_name, unsigned mode,
                                     std::filesystem::path& path);

// Removes a folder with everything in it, if `path` is still its name. False if something is left of it.
// Needs no descriptor besides the folder's own, which it closes.
bool remove_temporary_folder(const std::filesystem::path& path, io::Descriptor descriptor) noexcept;

// Removes from `folder` what killed processes left there.
void remove_leftovers(const std::filesystem::path& folder) noexcept;
// The same, unless this process has done it before: for writers of many files in one folder.
void remove_leftovers_once(const std::filesystem::path& folder) noexcept;

// A folder that its destructor removes. If this process is killed, the next one removes it.
class TemporaryFolder {
 public:
  // Below the system's temporary folder; `purpose` is a word of lower case letters. Throws Error{kIo}.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  io::Descriptor open_;  // holds the lock
};

}  // namespace ounce
