// A file in a cache of unpacked models.
//
//   the model in the runtime's own format │ key │ bytes of the model (8) │ bytes of the key (8) │ digest (16)
//   │ mark (8)
//
// What follows the model does not disturb the runtime, and says that all of the file is there and what it is
// for. The digest (base/digest.h) finds damage. It does not stop an attacker: whoever can write to the cache
// can change what the app computes.
//
// Reading all of a file takes longer than loading it, so its digest is compared once: a file that was found
// intact gets a modification time whose last six digits are a mark of its inode, size and time. Every write
// gives the file another time, and every copy another inode.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/mapped_file.h"

namespace ounce::app {

// What a file is for: nothing else may use it.
struct CacheKey {
  std::string digest;           // of the model, with its external data
  std::string runtime_version;  // "1.30.0"
  std::string cpu;              // cpu_features()
  std::string settings;         // whatever else changes what the runtime makes of a model

  std::string text() const;
  std::string file_name() const;  // DIGEST-VERSION-REST.ort
};

struct UnpackedFile {
  io::MappedFile file;
  std::string_view model;  // in it
};

// Nothing when there is no such file, or when it is not whole or not for this key. Looks at its end alone.
std::optional<UnpackedFile> open_unpacked(const std::filesystem::path& path, const CacheKey& key);

enum class Verification {
  kOnce,    // unless its time says that it was found intact
  kAlways,  // every byte
};
// Likewise, and nothing when the file does not have the digest that it says.
std::optional<UnpackedFile> open_verified(const std::filesystem::path& path, const CacheKey& key,
                                          Verification verification);
// A file of open_verified() was used now: the next one to be evicted is the one that was used longest ago.
void note_use(const std::filesystem::path& path) noexcept;

// Adds the end to a file that the runtime has written, of which `model` are the bytes. Throws Error{kIo}.
void finish_unpacked(const std::filesystem::path& path, std::string_view model, const CacheKey& key);

// Weights in a file of the runtime's own format begin anywhere, and kernels that read them where they are pay
// for it: a register of 64 bytes then lies on two lines of the cache (a convolution of 512 channels ran at
// 0.79 of its speed).
//
//   before   │ tables … │ weight │ … │ weight │ …              each at a multiple of 4
//   after    │ tables … │  hole  │ … │  hole  │ … │ weight │ weight      each at a multiple of 64
//
// Large ones are moved to the end, one by one, and what they leave is given back to the disk. The format is a
// FlatBuffer: a tensor names its bytes by their distance, which is all that has to change.

// Gives how many were moved: none where the file is not as we know it, or would become larger than the format
// can be. Throws Error{kIo}.
std::size_t align_weights(const std::filesystem::path& file);

}  // namespace ounce::app
