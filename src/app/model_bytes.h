// A model's bytes, from a file, memory or a descriptor, and their digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "formats/onnx/file/model.h"
#include "io/mapped_file.h"

namespace ounce::app {

class ModelBytes {
 public:
  // Throw Failure.
  static ModelBytes of_file(const std::filesystem::path& path);
  static ModelBytes of_memory(std::span<const std::byte> bytes);  // the caller owns the bytes
  static ModelBytes of_descriptor(int descriptor, std::uint64_t offset, std::uint64_t length);

  ModelBytes(ModelBytes&& other) noexcept;
  ModelBytes& operator=(ModelBytes&&) = delete;
  ~ModelBytes();

  std::string_view bytes() const { return bytes_; }
  const std::string& name() const { return name_; }                     // for errors
  const std::filesystem::path& path() const { return path_; }           // empty if it has none
  bool stays() const { return !path_.empty() || mapping_ != nullptr; }  // false: the caller owns the bytes
  bool was_cut() const noexcept { return file_.was_cut() || guard_.was_cut(); }  // truncated while in use
  bool is_ort() const;     // in ONNX Runtime's own format, which is never unpacked
  bool is_tflite() const;  // for LiteRT

 private:
  ModelBytes() = default;

  std::string name_;
  std::filesystem::path path_;
  std::string_view bytes_;
  io::MappedFile file_;
  void* mapping_ = nullptr;  // of a part of the caller's file
  std::size_t mapped_ = 0;
  io::FileGuard guard_;  // of `mapping_`
};

// Digests of the model and its external data.
//
//   const ModelDigest files(model);
//   files.identity();   // 32 hex digits, fast, not cryptographic: names files in the cache
//   files.sha256();     // 64 hex digits: proves that the model is the expected one
//
// Without external data these are the digests of the model's bytes; sha256() equals the output of
// `sha256sum`. With external data both are digests of digests: first the model's, then those of the external
// files, sorted by location (byte order). For SHA-256 the digests are lines of text:
//
//   sha256sum model.onnx a.bin b.bin | cut -d ' ' -f 1 | sha256sum
class ModelDigest {
 public:
  // Opens the external data. For a model without a path, external data is not covered. Throws Error.
  explicit ModelDigest(const ModelBytes& model);

  std::string identity() const;
  std::string sha256() const;

 private:
  const ModelBytes& model_;
  onnx::Model read_;  // owns the external data
};

// The identity, or nothing if Ounce cannot read the model; the runtime may still load it.
std::string identity_or_nothing(const ModelBytes& model);

}  // namespace ounce::app
