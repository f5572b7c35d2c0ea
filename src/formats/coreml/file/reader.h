// Reads a Core ML package or .mlmodel into a Model without copying any weight.
//
// Files are not trusted: every length, count, type, path and offset is checked here, and memory is
// proportional to the model file. validate() in model.h checks names and order. Files outside the package are
// never opened. All errors are Error{kBadInput} or Error{kIo}.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// Largest number of operations, values and other parts of a program.
inline constexpr std::uint64_t kMostParts = std::uint64_t{1} << 24;

Model read_model(const std::filesystem::path& path);
// For a package with a temporary path: messages contain `name` instead.
Model read_model(const std::filesystem::path& path, const std::filesystem::path& name);

// Reads a model from memory. The keys of `weights` are names in the program
// ("@model_path/weights/weight.bin").
Model read_model_from_memory(std::string bytes, const std::map<std::string, std::string>& weights,
                             const std::string& name);

}  // namespace ounce::coreml
