// Which verbs work on which kind of model file. What is not in the table is refused with one sentence, before
// anything is read.
#pragma once

#include <filesystem>
#include <string_view>

#include "model/model_file.h"

namespace ounce::model {

bool supports(ModelKind kind, std::string_view verb);

// Throws Error{kUnsupported} with what works on such a file. A file that is not there passes: whoever opens
// it says so.
void require_support(const std::filesystem::path& model, std::string_view verb);

}  // namespace ounce::model
