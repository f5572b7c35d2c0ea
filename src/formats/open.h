// Opens a model file of any supported format, and changes metadata.
#pragma once

#include <filesystem>
#include <string>

#include "model/model_file.h"

namespace ounce::formats {

// Parses the file without validate(). Throws Error{kBadInput}, Error{kIo}, and Error{kUnsupported} for a
// format that is known but not supported.
model::ModelFilePtr open_model(const std::filesystem::path& path);

// Writes a copy with one metadata entry changed, reopens and validates it, and moves it to `output`. Throws
// Error{kIo}, and Error{kUsage} if `output` is one of the model's own files.
void write_with_metadata(const model::ModelFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output);

// Changes one metadata entry of a file. The file is replaced atomically; its external data is not changed.
// Throws Error{kIo}.
void replace_metadata(const std::filesystem::path& model, const std::string& key, const std::string& value);

}  // namespace ounce::formats
