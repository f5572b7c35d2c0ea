// Files of unpacked models in a cache. Layout of a file:
//
//   the model in the runtime's own format │ key │ size of the model (8) │ size of the key (8) │ digest (16) │
//   mark (8)
//
// The runtime ignores the bytes after the model. They show that the file is complete, and for which key it
// is. The digest (base/digest.h) detects damage, not attacks: users who can write to the cache can change the
// app's results.
//
// Reading a whole file takes longer than loading it, so its digest is compared only once. A file that is
// intact gets a modification time whose last six digits are a hash of its inode, size and time. Every write
// changes the time, and every copy has another inode.
#pragma once

#include <ounce/app.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/model_bytes.h"
#include "io/mapped_file.h"
#include "runtime/ort/library.h"

namespace ounce::app {

// The model, runtime, CPU and settings that a file was made for. It must not be used with others.
struct CacheKey {
  std::string digest;           // of the model, with its external data
  std::string runtime_version;  // "1.30.0"
  std::string cpu;              // cpu_features()
  std::string settings;         // other options that change the runtime's model

  std::string text() const;
  std::string file_name() const;  // DIGEST-VERSION-REST.ort
};

struct UnpackedFile {
  io::MappedFile file;
  std::string_view model;  // the model's bytes in `file`
};

// Opens a file, reading only its end. Returns nothing if the file does not exist, is incomplete or has
// another key.
std::optional<UnpackedFile> open_unpacked(const std::filesystem::path& path, const CacheKey& key);

enum class Verification {
  kOnce,    // compares the digest unless the file is marked as intact
  kAlways,  // always compares the digest
};
// As open_unpacked(), and also returns nothing if the file does not match its digest.
std::optional<UnpackedFile> open_verified(const std::filesystem::path& path, const CacheKey& key,
                                          Verification verification);
// Records the use of a file of open_verified(): the least recently used file is evicted first.
void note_use(const std::filesystem::path& path) noexcept;

// Appends the key and the digest to a file that the runtime has written; `model` is its content. Throws
// Error{kIo}.
void finish_unpacked(const std::filesystem::path& path, std::string_view model, const CacheKey& key);

// Aligns the weights in a file of ONNX Runtime's own format to cache lines. The runtime aligns them to 4
// bytes only; kernels that read them in place are slower if 64-byte loads cross cache lines (a convolution of
// 512 channels ran at 0.79× speed).
//
//   before   │ tables … │ weight │ … │ weight │ …              each at a multiple of 4
//   after    │ tables … │  hole  │ … │  hole  │ … │ weight │ weight      each at a multiple of 64
//
// Large weights are moved to the end, one by one, and their old places become holes. The format is a
// FlatBuffer: only the relative offset from a tensor to its bytes changes. Returns the number of moved
// weights: 0 if the file has another structure, or would exceed the format's size limit. Throws Error{kIo}.
std::size_t align_weights(const std::filesystem::path& file);

struct Unpacking {
  Unpacked result;
  std::optional<UnpackedFile> file;  // the model to load; if empty, see `result.why_not`
};

// Unpacks a model that is in memory. `identity` is ModelDigest::identity(). Throws Failure.
Unpacking unpack_into(const ModelBytes& model, const std::string& identity,
                      const std::filesystem::path& cache,
                      const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options,
                      Verification verification);

}  // namespace ounce::app
