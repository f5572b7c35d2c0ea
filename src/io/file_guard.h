// What lets a process survive that a file becomes shorter while it is read (include/ounce/file_guard.h): a
// list of mappings and files, in which a handler of SIGBUS looks for the address.
//
//   file.guard = FileGuard(bytes, path);              // a mapping of ours, as long as it is there
//   const FileGuard theirs = FileGuard::of_all(file); // all mappings of a file, whoever makes them
//   if (file.guard.was_cut()) …                       // zeros stand for what is missing
//
// Zeros are not the file's bytes, so nothing is guarded unless somebody asks: a call (base/cancel.h), which
// throws Error{kIo} sooner or later. Without a call the signal does what it always does.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ounce::io {

class MappedFile;

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

}  // namespace ounce::io
