// A file mapped for reading. Copies of a MappedFile share the mapping, which lives as long as the last of
// them; no byte is copied.
//
// Only regular files are opened (a pipe could hang, a device could be endless). release() gives back the
// memory of a range that has been read: the range remains readable but no longer counts as memory of the
// process, so a 20 GB model can be walked in a few megabytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/cancel.h"

namespace ounce::io {

class MappedFile;

// Checks before the work that a file or a folder is there and may be read. Throws Error{kIo}.
void require_readable(const std::filesystem::path& path);

// Lets a process survive that a file becomes shorter while it is read (include/ounce/file_guard.h): a handler
// of SIGBUS looks for the address in a list of mappings and files.
//
//   file.guard = FileGuard(bytes, path);               // a mapping of this process, as long as it exists
//   const FileGuard others = FileGuard::of_all(file);  // all mappings of a file, whichever code makes them
//   if (file.guard.was_cut()) …                        // zeros replace the missing bytes
//
// Zeros are not the file's bytes, so a guard does nothing without a call (base/cancel.h), which throws
// Error{kIo} sooner or later. Without a call the signal has its usual effect.
class FileGuard {
 public:
  struct Mapping;

  FileGuard() = default;
  FileGuard(std::string_view mapping, const std::filesystem::path& path);
  // For a file that the runtime maps by itself. Does nothing where there is no /proc.
  static FileGuard of_all(const MappedFile& file);
  // Is there a call that asks, and are guards on?
  static bool is_wanted() noexcept;
  FileGuard(FileGuard&& other) noexcept;
  FileGuard& operator=(FileGuard&& other) noexcept;
  ~FileGuard();

  bool was_cut() const noexcept;

 private:
  struct Slot;
  struct Slots;
  void take(const Mapping& mapping, const std::filesystem::path& path);

  Slot* slot_ = nullptr;
  std::unique_ptr<const std::string> path_;  // stays where it is
  std::shared_ptr<FileFault> fault_;         // of the call
};

class MappedFile {
 public:
  // Throws Error{kIo}.
  static MappedFile open(const std::filesystem::path& path);

  // Opens `relative` below `folder` and never outside of it, whatever symbolic links say. The
  // kernel resolves the path (openat2 with RESOLVE_BENEATH), so there is no race with a check.
  static MappedFile open_beneath(const std::filesystem::path& folder, const std::filesystem::path& relative);

  std::string_view bytes() const { return mapping_ ? mapping_->bytes : std::string_view(); }
  const std::filesystem::path& path() const { return path_; }
  bool contains(std::string_view view) const;
  void release(std::string_view view) const;
  // True if the file became shorter while it was read: zeros replace the missing bytes.
  bool was_cut() const noexcept { return mapping_ && mapping_->guard.was_cut(); }
  bool same_file_as(const std::filesystem::path& other) const;
  bool is_same_file(const MappedFile& other) const {
    return device_ == other.device_ && inode_ == other.inode_ && bytes().size() == other.bytes().size();
  }

 private:
  struct Mapping {
    Mapping() = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    std::string_view bytes;
    std::atomic<std::size_t> released = 0;  // bytes since pages were last given back
    FileGuard guard;
  };

  static MappedFile map(int descriptor, std::filesystem::path path);

  std::shared_ptr<Mapping> mapping_;
  std::filesystem::path path_;
  std::uint64_t device_ = 0, inode_ = 0;
};

// Asks the kernel to forget the file's pages, so that the next reader waits for the disk, as the first one
// after a reboot does. False when some pages remain: another process has the file open, or the file system
// keeps everything in memory.
bool drop_from_cache(const std::filesystem::path& path);

// The names in a folder without "." and "..", in no order; empty when `error` says why the folder cannot be
// read. std::filesystem::directory_iterator would end the process when there is no memory for it.
std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error);

}  // namespace ounce::io
