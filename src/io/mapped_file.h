// A file mapped for reading. Copies of a MappedFile share the mapping, which lives as long as the last of
// them; bytes are never copied.
//
// Only regular files are opened (a pipe could block, a device could be endless). release() frees the memory
// of a range: it remains readable but no longer counts as memory of the process, so a 20 GB model can be read
// with a few megabytes.
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

// Checks in advance that a file or folder exists and is readable. Throws Error{kIo}.
void require_readable(const std::filesystem::path& path);

// Lets a process survive the truncation of a file while it is read (include/ounce/error.h): a SIGBUS
// handler looks up the address in a list of mappings and files.
//
//   file.guard = FileGuard(bytes, path);               // one mapping of this process, during its lifetime
//   const FileGuard others = FileGuard::of_all(file);  // all mappings of a file, also by other code
//   if (file.guard.was_cut()) …                        // missing bytes were replaced by zeros
//
// Zeros are not the file's bytes, so a guard is active only in a cancellation scope (base/cancel.h), which
// then throws Error{kIo}. Outside of a scope the signal has its default effect.
class FileGuard {
 public:
  struct Mapping;

  FileGuard() = default;
  FileGuard(std::string_view mapping, const std::filesystem::path& path);
  // For a file that the runtime maps itself. Has no effect on systems without /proc.
  static FileGuard of_all(const MappedFile& file);
  // True in a cancellation scope if guards are enabled.
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
  std::unique_ptr<const std::string> path_;  // at a constant address, for the handler
  std::shared_ptr<FileFault> fault_;         // of the scope
};

class MappedFile {
 public:
  // Throws Error{kIo}.
  static MappedFile open(const std::filesystem::path& path);

  // Opens `relative` below `folder` and never outside of it, also with symbolic links. The kernel resolves
  // the path (openat2 with RESOLVE_BENEATH), so there is no race with a check.
  static MappedFile open_beneath(const std::filesystem::path& folder, const std::filesystem::path& relative);

  std::string_view bytes() const { return mapping_ ? mapping_->bytes : std::string_view(); }
  const std::filesystem::path& path() const { return path_; }
  bool contains(std::string_view view) const;
  void release(std::string_view view) const;
  // True if the file was truncated while it was read: missing bytes were replaced by zeros.
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
    std::atomic<std::size_t> released = 0;  // bytes since pages were last released
    FileGuard guard;
  };

  static MappedFile map(int descriptor, std::filesystem::path path);

  std::shared_ptr<Mapping> mapping_;
  std::filesystem::path path_;
  std::uint64_t device_ = 0, inode_ = 0;
};

// Asks the kernel to drop the file from the page cache, so that the next reader reads from disk, as after a
// reboot. Returns false if pages remain: another process has the file open, or the file system is in memory.
bool drop_from_cache(const std::filesystem::path& path);

// The unsorted names in a folder except "." and ".."; empty with `error` set if the folder cannot be read.
// std::filesystem::directory_iterator would terminate the process if memory ran out.
std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error);

}  // namespace ounce::io
