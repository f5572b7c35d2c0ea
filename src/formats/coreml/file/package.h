// The folder of a package. Manifest.json names the model file; other files are copied unchanged.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

inline constexpr std::string_view kManifest = "Manifest.json";

// Returns the path of the model file in the manifest, relative to the package. `name` names the package in
// messages. Throws Error{kBadInput} for an invalid manifest, and Error{kIo}.
std::filesystem::path root_model(const std::filesystem::path& package, const std::string& name);

// Returns the path of a weight file, given its name in the program, relative to the package. Throws
// Error{kBadInput} for a path that is not below the folder of the model file.
std::filesystem::path location_of_weights(const Model& model, const std::string& weights,
                                          const std::string& name);

// Returns the sorted paths of all files of the package except the model file and its weights, relative to the
// package. Throws Error{kBadInput} if there are too many, and Error{kIo}.
std::vector<std::filesystem::path> other_files(const std::filesystem::path& package, const Model& model);

}  // namespace ounce::coreml
