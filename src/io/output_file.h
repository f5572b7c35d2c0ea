// A file, or a folder, that appears whole or not at all.
//
//   OutputFile out(path, size);      // reserves the space: a full disk is known here
//   out.write(offset, bytes);        // any order, any thread
//   out.commit();                    // flush, then take the place of `path` in one step
//
// Until commit() the bytes have no name in the folder (O_TMPFILE), so a killed process leaves nothing behind,
// except in the instant between getting a name and taking the place of `path`. On file systems that cannot do
// that, a hidden temporary file is used, which the destructor removes, or the next process if this one is
// killed (io/temporary_files.h). The old file at `path` is not touched until the new one is complete and on
// the disk. The new file gets its mode, access list, group and owner, as far as the system allows.
//
// Any number of threads and processes may write to one `path` at a time: each has a file of its own until the
// commit, and the last commit decides.
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

// Only a file may be replaced, or a free name taken: throws Error{kUsage} for a device, a pipe or a socket,
// behind a link too, and Error{kIo} for a folder. Every OutputFile checks this; call it to fail early.
void require_file_or_free(const std::filesystem::path& path);

// Checks before the work that a file can be written to `path`. Throws what require_file_or_free() throws, and
// Error{kIo} when the folder is missing or accepts no files. Leaves nothing behind.
void require_place(const std::filesystem::path& path);

// Checks before the work that `folder` can be made with all missing parents, or exists and accepts files.
// Throws Error{kIo}.
void require_folder_place(const std::filesystem::path& folder);

class OutputFile {
 public:
  // Throws what require_file_or_free() throws, and Error{kIo}, also when the disk has no room for `size`
  // bytes. A file at a free `path` gets the permissions of the one at `like`, if there is one.
  OutputFile(std::filesystem::path path, std::uint64_t size, std::filesystem::path like = {});
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  void write(std::uint64_t offset, std::string_view bytes) const;
  // Behind the last byte: the file grows.
  void append(std::string_view bytes);

  // A path under which the unfinished file can be opened and checked before it is committed.
  std::filesystem::path unfinished_path() const;

  // Keeps the file locked as long as the result lives, also after the commit: for a ReplaceLock of the name.
  Descriptor shared_lock() const;

  // Starts writing to the disk in the background, so that flush() waits less. Call it after the last write().
  void start_flush();
  // The bytes are on the disk when this returns.
  void flush() const;
  // kNone is for files that end with this process: nothing has to survive a power failure.
  enum class Flush { kToDisk, kNone };
  void commit(Flush flushes = Flush::kToDisk);
  // True once the file has taken its place, even if commit() then failed to flush the folder.
  bool is_in_place() const { return !descriptor_; }

 private:
  void open_named(unsigned mode);
  void reserve() const;
  void get_name();
  bool has_its_name() const;

  std::filesystem::path path_, like_, temporary_;  // temporary_ is empty while the file has no name
  std::uint64_t size_;
  Descriptor descriptor_;
  std::jthread flusher_;  // done before the descriptor is closed
};

// Who may read and write a file that takes the place of another one.
struct Permissions {
  unsigned mode = 0, owner = 0, group = 0;
  std::string access_list = {};  // POSIX ACL in the form of the kernel; empty without
  bool is_of_link = false;       // the owner of a link does not decide who owns what replaces it

  // Of what `path` leads to; nothing if it leads to nothing.
  static std::optional<Permissions> of(const std::filesystem::path& path);
};

// Gives the file or folder that `descriptor` has open these permissions. If the group cannot be kept, the new
// group gets no more than everybody has. The owner is kept where the system allows it, which is for root.
void apply(const Permissions& permissions, int descriptor);

// One writer at a time replaces a file and removes what only the old file needed.
//
//   const ReplaceLock lock(path);
//   const Descriptor next = output.shared_lock();    // a writer that finds the new file waits as well
//   … read the file at `path`, replace it, remove the data files that only the old one named …
//
// Without the lock, a second writer may put a model in place between the two steps, and the first one removes
// its data. The lock is an flock() on the file at `path`. Waiting for it ends after some seconds, and at once
// where the file system has no locks.
class ReplaceLock {
 public:
  explicit ReplaceLock(const std::filesystem::path& path);

  // Whether there is a file to replace. One that appears later is of another writer: it is replaced as well,
  // and its data files are kept.
  bool has_file() const { return static_cast<bool>(file_); }

 private:
  Descriptor file_;
};

// A folder that appears whole or not at all.
//
//   OutputFolder out("bert-onnx", OutputFolder::Existing::kRefuse);
//   … write files below out.path() …
//   out.commit();                    // takes the place of "bert-onnx" in one step
//
// Until the commit the folder has a hidden name beside its place; the destructor removes it. A killed process
// leaves only that hidden folder, and the next one that writes there removes it (io/temporary_files.h). A
// folder that is replaced passes its permissions on to the new one.
class OutputFolder {
 public:
  enum class Existing { kRefuse, kReplace };  // a folder that is not empty

  // Throws Error{kUsage} if `place` is no folder or a folder that may not be replaced, and Error{kIo}.
  OutputFolder(std::filesystem::path place, Existing existing);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Copies a file to `relative`, which must not lead outside, whole or not at all.
  void copy(const std::filesystem::path& file, const std::filesystem::path& relative) const;
  // Makes the folders above `relative` and returns its path.
  std::filesystem::path place_for(const std::filesystem::path& relative) const;

  void commit();

 private:
  void require_place() const;

  std::filesystem::path place_, path_;
  Descriptor open_;  // the folder at path_, and its lock
  Existing existing_;
};

// Where the bytes of a model whose files have no names can be opened, also by other processes while this one
// lives.
struct UnfinishedFiles {
  std::filesystem::path model;
  std::map<std::string, std::filesystem::path> data;  // by location
};

}  // namespace ounce::io
