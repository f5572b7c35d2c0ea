// A model's bytes, wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "io/mapped_file.h"

namespace ounce::app {

class ModelBytes {
 public:
  // Throw Failure.
  static ModelBytes of_file(const std::filesystem::path& path);
  static ModelBytes of_memory(std::span<const std::byte> bytes);  // stay the caller's
  static ModelBytes of_descriptor(int descriptor, std::uint64_t offset, std::uint64_t length);

  ModelBytes(ModelBytes&& other) noexcept;
  ModelBytes& operator=(ModelBytes&&) = delete;
  ~ModelBytes();

  std::string_view bytes() const { return bytes_; }
  const std::string& name() const { return name_; }                     // for errors
  const std::filesystem::path& path() const { return path_; }           // empty: it has none
  bool stays() const { return !path_.empty() || mapping_ != nullptr; }  // rather than being the caller's
  bool was_cut() const noexcept { return file_.was_cut() || guard_.was_cut(); }  // while it was read
  bool is_ort() const;  // in the runtime's own format: there is nothing to unpack

 private:
  ModelBytes() = default;

  std::string name_;
  std::filesystem::path path_;
  std::string_view bytes_;
  io::MappedFile file_;
  void* mapping_ = nullptr;  // of a part of somebody's file
  std::size_t mapped_ = 0;
  io::FileGuard guard_;  // of that mapping
};

}  // namespace ounce::app
