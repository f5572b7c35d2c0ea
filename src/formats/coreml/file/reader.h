// Reads a Core ML package or .mlmodel into a Model without copying any weight.
//
// The files are hostile until proven otherwise: every length, count, type, path and offset is checked here,
// and memory stays in proportion to the model file. What connects the parts (names, order) is checked by
// validate() in model.h. Files are opened below the package and never outside of it. All errors are
// Error{kBadInput} or Error{kIo}.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// Operations, values and other parts of a program.
inline constexpr std::uint64_t kMostParts = std::uint64_t{1} << 24;

Model read_model(const std::filesystem::path& path);
// For a package that is not in its place yet: `name` is how to call it.
Model read_model(const std::filesystem::path& path, const std::filesystem::path& name);

// A model without files; `weights` by their names in the program ("@model_path/weights/weight.bin").
Model read_model_from_memory(std::string bytes, const std::map<std::string, std::string>& weights,
                             const std::string& name);

}  // namespace ounce::coreml
