// Reads a TFLite file into a Model without copying any weight.
//
// The file is hostile until proven otherwise: every offset, length and count is checked here, memory stays in
// proportion to the file, and check.h checks what connects the parts. All errors are Error{kBadInput} or
// Error{kIo}.
//
// Fields of newer schemas are read, too, but such a model may not be writable: Model::unwritable has the
// reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

Model read_model(const std::filesystem::path& path);
// For a file that is not in its place yet: `name` is how to call it.
Model read_model(const std::filesystem::path& path, const std::string& name);

// A model without a file.
Model read_model_from_memory(std::string bytes, const std::string& name);
// The same without a copy: the bytes must outlive the model.
Model read_model_in_place(std::string_view bytes, const std::string& name);

}  // namespace ounce::tflite
