// Unpacked models: files in a cache, and how they are made.
//
//   the model in the runtime's own format │ key │ bytes of the model (8) │ bytes of the key (8) │ digest (16)
//   │ mark (8)
//
// The runtime ignores the bytes behind the model, which show that the file is complete and for which key. The
// digest (base/digest.h) finds damage. It does not stop an attacker: a user who can write to the cache can
// change what the app computes.
//
// Reading a whole file takes longer than loading it, so its digest is compared once: a file that was found
// intact gets a modification time whose last six digits mark its inode, size and time. Every write gives the
// file another time, and every copy another inode.
#pragma once

#include <ounce/app/unpack.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/model_bytes.h"
#include "io/mapped_file.h"
#include "runtime/ort/library.h"

namespace ounce::app {

// The model, runtime, CPU and settings that a file is for: nothing else may use it.
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
  std::string_view model;  // in it
};

// Nothing when there is no such file, or when it is incomplete or for another key. Reads only its end.
std::optional<UnpackedFile> open_unpacked(const std::filesystem::path& path, const CacheKey& key);

enum class Verification {
  kOnce,    // unless its time marks it as intact
  kAlways,  // every byte
};
// The same, and nothing when the file does not have its digest.
std::optional<UnpackedFile> open_verified(const std::filesystem::path& path, const CacheKey& key,
                                          Verification verification);
// Notes the use of a file of open_verified(): the least recently used one is evicted first.
void note_use(const std::filesystem::path& path) noexcept;

// Adds the end to a file that the runtime has written, of which `model` are the bytes. Throws Error{kIo}.
void finish_unpacked(const std::filesystem::path& path, std::string_view model, const CacheKey& key);

// Aligns the weights in a file of the runtime's own format, where they begin at any multiple of 4. Kernels
// that read them in place are slower if a register of 64 bytes lies on two lines of the cache (a convolution
// of 512 channels ran at 0.79 of its speed).
//
//   before   │ tables … │ weight │ … │ weight │ …              each at a multiple of 4
//   after    │ tables … │  hole  │ … │  hole  │ … │ weight │ weight      each at a multiple of 64
//
// Large ones are moved to the end, one by one, and their old place becomes a hole. The format is a
// FlatBuffer: a tensor has the distance to its bytes, which is all that has to change. Returns how many were
// moved: none if the file has another structure, or would become larger than the format allows. Throws
// Error{kIo}.
std::size_t align_weights(const std::filesystem::path& file);

struct Unpacking {
  Unpacked result;
  std::optional<UnpackedFile> file;  // the model to load; nothing: `result.why_not`
};

// Unpacks a model that is in memory. `identity` is ModelDigest::identity(). Throws Failure.
Unpacking unpack_into(const ModelBytes& model, const std::string& identity,
                      const std::filesystem::path& cache,
                      const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options,
                      Verification verification);

}  // namespace ounce::app
