// A file in a cache of unpacked models.
//
//   the model in the runtime's own format │ key │ bytes of the model (8) │ bytes of the key (8) │ digest (16)
//   │ mark (8)
//
// What follows the model does not disturb the runtime, and says that all of the file is there and what it is
// for.
#pragma once

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

// Nothing when there is no such file, or when it is not whole or not for this key.
std::optional<UnpackedFile> open_unpacked(const std::filesystem::path& path, const CacheKey& key);
// The same, with every byte compared with the digest.
bool is_intact(const UnpackedFile& file);

// Adds the end to a file that the runtime has written, of which `model` are the bytes. Throws Error{kIo}.
void finish_unpacked(const std::filesystem::path& path, std::string_view model, const CacheKey& key);

}  // namespace ounce::app
