// Output files and folders that are written atomically.
//
//   OutputFile out(path, size);      // reserves the space: a full disk is detected here
//   out.write(offset, bytes);        // in any order, from any thread
//   out.commit();                    // flushes, then replaces `path` atomically
//
// Until commit() the bytes have no name in the folder (O_TMPFILE), so a killed process leaves nothing, except
// in the instant between naming the file and replacing `path`. File systems without this feature use a hidden
// temporary file, which the destructor removes, or the next process if this one is killed
// (io/temporary_files.h). The old file at `path` is not changed until the new one is complete and on disk.
// The new file gets the old one's mode, access list, group and owner, as far as the system allows.
//
// Any number of threads and processes may write to the same `path`: each has its own file until the commit,
// and the last commit wins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "io/descriptor.h"

namespace ounce::io {

// Checks that `path` is a regular file or unused. Throws Error{kUsage} for a device, a pipe or a socket, also
// behind a link, and Error{kIo} for a folder. Every OutputFile checks this; call it to fail early.
void require_file_or_free(const std::filesystem::path& path);

// Checks in advance that a file can be written to `path`. Throws like require_file_or_free(), and Error{kIo}
// if the folder is missing or not writable. Leaves nothing behind.
void require_place(const std::filesystem::path& path);

// Checks in advance that `folder` can be created with all missing parents, or exists and is writable. Throws
// Error{kIo}.
void require_folder_place(const std::filesystem::path& folder);

class OutputFile {
 public:
  // Throws like require_file_or_free(), and Error{kIo}, also if the disk has no room for `size` bytes. If
  // there is no file at `path`, the new file gets the permissions of the file at `like`, if any.
  OutputFile(std::filesystem::path path, std::uint64_t size, std::filesystem::path like = {});
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  void write(std::uint64_t offset, std::string_view bytes) const;
  // Appends bytes at the end.
  void append(std::string_view bytes);

  // A path under which the unfinished file can be opened and checked before it is committed.
  std::filesystem::path unfinished_path() const;

  // Locks the file for a ReplaceLock during the lifetime of the result, also after the commit.
  Descriptor shared_lock() const;

  // Starts writing to disk in the background, to shorten flush(). Call it after the last write().
  void start_flush();
  // Returns when the bytes are on disk.
  void flush() const;
  // kNone is for files that are used only by this process and need not survive a power failure.
  enum class Flush { kToDisk, kNone };
  void commit(Flush flushes = Flush::kToDisk);
  // True once the file has replaced `path`, even if commit() then failed to flush the folder.
  bool is_in_place() const { return !descriptor_; }

 private:
  void open_named(unsigned mode);
  void reserve() const;
  void get_name();
  bool has_its_name() const;

  std::filesystem::path path_, like_, temporary_;  // temporary_ is empty if the file has no name
  std::uint64_t size_;
  Descriptor descriptor_;
  std::jthread flusher_;  // finishes before the descriptor is closed
};

// The access permissions of a file that is replaced, for the new file.
struct Permissions {
  unsigned mode = 0, owner = 0, group = 0;
  std::string access_list = {};  // POSIX ACL in the kernel's format; empty for none
  bool is_of_link = false;       // the owner of a link does not determine the owner of its replacement

  // The permissions of the target of `path`; empty if there is none.
  static std::optional<Permissions> of(const std::filesystem::path& path);
};

// Applies the permissions to an open file or folder. If the group cannot be kept, the new group gets no more
// rights than all others. Only root can keep another owner.
void apply(const Permissions& permissions, int descriptor);

// Ensures that only one writer at a time replaces a file and removes files that only the old one needed.
//
//   const ReplaceLock lock(path);
//   const Descriptor next = output.shared_lock();    // a writer that finds the new file waits, too
//   … read the file at `path`, replace it, remove the data files that only the old one uses …
//
// Without the lock, a second writer may replace the model between the two steps, and the first one would
// remove its data. The lock is an flock() on the file at `path`. The constructor stops waiting after some
// seconds, and does not wait on file systems without locks.
class ReplaceLock {
 public:
  explicit ReplaceLock(const std::filesystem::path& path);

  // Whether there is a file to replace. A file that appears later belongs to another writer: it is also
  // replaced, but its data files are kept.
  bool has_file() const { return static_cast<bool>(file_); }

 private:
  Descriptor file_;
};

// An output folder that is written atomically.
//
//   OutputFolder out("bert-onnx", OutputFolder::Existing::kRefuse);
//   std::ofstream(out.path() / "model.onnx") << bytes;
//   out.commit();                    // replaces "bert-onnx" atomically
//
// Until the commit the folder has a hidden name next to its final place; the destructor removes it. A killed
// process leaves only this hidden folder, which the next writer in the same place removes
// (io/temporary_files.h). The new folder gets the permissions of the folder that it replaces.
class OutputFolder {
 public:
  enum class Existing { kRefuse, kReplace };  // for a nonempty existing folder

  // Throws Error{kUsage} if `place` is not a folder or must not be replaced, and Error{kIo}.
  OutputFolder(std::filesystem::path place, Existing existing);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Copies a file atomically to `relative`, which must not lead outside of the folder.
  void copy(const std::filesystem::path& file, const std::filesystem::path& relative) const;
  // Creates the parent folders of `relative` and returns its path.
  std::filesystem::path place_for(const std::filesystem::path& relative) const;

  void commit();

 private:
  void require_place() const;

  std::filesystem::path place_, path_;
  Descriptor open_;  // the folder at path_, and its lock
  Existing existing_;
};

// Paths at which a model's unnamed files can be opened, also by other processes, during the lifetime of this
// process.
struct UnfinishedFiles {
  std::filesystem::path model;
  std::map<std::string, std::filesystem::path> data;  // by location
};

}  // namespace ounce::io
