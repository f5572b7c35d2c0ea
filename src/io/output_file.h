// A file that appears whole or not at all.
//
//   OutputFile out(path, size);      // reserves the space: a full disk is known here
//   out.write(offset, bytes);        // any order, any thread
//   out.commit();                    // flush, then take the place of `path` in one step
//
// Until commit() the bytes have no name in the folder (O_TMPFILE), so that a killed process leaves nothing
// behind but for the instant between getting a name and taking the place of `path`. File systems that cannot
// do that get a hidden temporary file, which the destructor removes, or the next process if this one is
// killed (io/temporary_files.h). Whatever `path` held before stays untouched until the new file is complete
// and on the disk. Its mode, access list, group and owner are those of the new file, too, as far as the
// system allows.
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
// behind a link too, and Error{kIo} for a folder. Every OutputFile asks; to ask before the work saves it.
void require_file_or_free(const std::filesystem::path& path);

// Checks before the work that a file can be written to `path`. Throws what require_file_or_free() throws, and
// Error{kIo} when the folder is missing or accepts no files. Leaves nothing behind.
void require_place(const std::filesystem::path& path);

class OutputFile {
 public:
  // Throws what require_file_or_free() throws, and Error{kIo}, also when the disk has no room for `size`
  // bytes.
  // If nothing stands at `path`, the file gets the permissions of what stands at `like`, if anything does.
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

  // Keeps the file locked as long as it lives, also after the commit: for a ReplaceLock of the same name.
  Descriptor shared_lock() const;

  // Lets the disk begin, in the background, so that flush() finds less to wait for. After the last write().
  void start_flush();
  // The bytes are on the disk when this returns.
  void flush() const;
  // kNone is for files that end with this process: nothing has to survive a power failure.
  enum class Flush { kToDisk, kNone };
  void commit(Flush flushes = Flush::kToDisk);
  // Has the file taken its place? True even if commit() failed after that, when it could not flush the
  // folder.
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
  bool is_of_link = false;       // whoever can make a link does not decide who owns what replaces it

  // Of what `path` leads to; nothing if it leads to nothing.
  static std::optional<Permissions> of(const std::filesystem::path& path);
};

// Gives the file or folder that `descriptor` has open these permissions. If the group cannot be kept, the new
// group gets no more than everybody has. The owner is kept where the system allows it, which is for root.
void apply(const Permissions& permissions, int descriptor);

// One writer at a time replaces a file and removes what only the old file needed.
//
//   const ReplaceLock lock(path);
//   const Descriptor next = output.shared_lock();    // who finds the new file waits as well
//   … see what stands at `path`, replace it, remove the data files that only the old one named …
//
// Without it, a second writer may put a model in place between the two steps whose data the first one then
// removes. The lock is an flock() on the file that stands at `path`. It is given up after some seconds, and
// where the file system has no locks.

class ReplaceLock {
 public:
  explicit ReplaceLock(const std::filesystem::path& path);

  // Whether there is a file to replace. One that appears later was written by another writer: it is replaced
  // as well, and what it needs stays.
  bool has_file() const { return static_cast<bool>(file_); }

 private:
  Descriptor file_;
};

// Where the bytes of a model whose files have no names can be opened, also by other processes while this one
// lives.
struct UnfinishedFiles {
  std::filesystem::path model;
  std::map<std::string, std::filesystem::path> data;  // by location
};

}  // namespace ounce::io
