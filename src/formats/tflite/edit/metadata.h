// Entries of a model's metadata: texts and documents by name, each in a buffer of its own.
#pragma once

#include <string>
#include <string_view>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// Sets an entry, replacing the one of that name. Other entries and all other buffers keep their numbers.
void set_metadata(Model& model, std::string_view name, std::string value);
void remove_metadata(Model& model, std::string_view name);

// Removes all entries, and sorts buffers in the order in which tensors use them, so that digests do not
// depend on the entries.
Model without_metadata(Model model);

}  // namespace ounce::tflite
