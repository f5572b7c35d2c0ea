// Opens a model file of any format that Ounce reads. What this build has no reader for is refused by name.
#pragma once

#include <filesystem>
#include <string>

#include "model/model_file.h"

namespace ounce::formats {

// Parses, without validate(). Throws Error{kBadInput}, Error{kIo}, and Error{kUnsupported} for a format that
// is known and has no reader.
model::ModelFilePtr open_model(const std::filesystem::path& path);

// Writes a copy with one entry of metadata set, reopens and validates it, and puts it in its place. Throws
// Error{kIo}, and Error{kUsage} for a place that is one of the model's own files.
void write_with_metadata(const model::ModelFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output);

// Puts another value in the place of one entry of metadata; the file is replaced in one step, and its
// external data stays. Throws Error{kIo}.
void replace_metadata(const std::filesystem::path& model, const std::string& key, const std::string& value);

}  // namespace ounce::formats
