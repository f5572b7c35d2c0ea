// A file mapped for reading. Copies of a MappedFile share the mapping, which lives as long as the last of
// them; no byte is copied.
//
// Only regular files are opened (a pipe could hang, a device could be endless). release() gives
// back the memory of a range that has been read: it stays readable, but counts no longer towards
// the process, so that a 20 GB model can be walked in a few megabytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "io/file_guard.h"

namespace ounce::io {

// Checks before the work that a file or a folder is there and may be read. Throws Error{kIo}.
void require_readable(const std::filesystem::path& path);

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
  // Did the file become shorter while it was read? Then zeros stand for what is missing.
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

// Makes the next reader of a file wait for the disk, as the first one after a reboot does.

// Asks the kernel to forget the file's pages. False when some stay: others have the file open, or the file
// system keeps everything in memory.
bool drop_from_cache(const std::filesystem::path& path);

}  // namespace ounce::io
