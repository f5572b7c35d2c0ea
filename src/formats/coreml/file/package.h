// The folder of a package: Manifest.json names the model file; everything else is carried along.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

inline constexpr std::string_view kManifest = "Manifest.json";

// Where the manifest says the model file is, relative to the package. `name` is how to call the package in
// messages. Throws Error{kBadInput} for a manifest that makes no sense, and Error{kIo}.
std::filesystem::path root_model(const std::filesystem::path& package, const std::string& name);

// Where a weight file that the program names is, relative to the package. Throws Error{kBadInput} for a name
// that is not below the folder of the model file.
std::filesystem::path location_of_weights(const Model& model, const std::string& weights,
                                          const std::string& name);

// The files of the package besides the model file and the weights that it uses, relative to the package and
// in the order of their names. Throws Error{kBadInput} for more than a package has, and Error{kIo}.
std::vector<std::filesystem::path> other_files(const std::filesystem::path& package, const Model& model);

}  // namespace ounce::coreml
