// What a measurement depends on, as text: two runs with one identity measure the same, so that the second
// finds what the first has kept.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <string>

namespace ounce::search {

// Of the content of every file that is read, and of all that says how it meets the model. Folders are taken
// with everything below them, lists with the files that they name. Throws Error{kIo}.
std::string digest_of_data(const DataOptions& data);

// This program, the model with its external data, the data, the runtime and how it is used, and this CPU's
// arithmetic; `more` is what a verb's own options add. Nothing is run.
std::string identity_of(const std::filesystem::path& model, const DataOptions& data,
                        const RuntimeOptions& runtime, const std::string& more);

}  // namespace ounce::search
