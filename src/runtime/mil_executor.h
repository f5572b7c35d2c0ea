// Implements LocalExecutor for Core ML's ML Programs with the evaluator (mil/program.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/executor.h"

namespace ounce::runtime {

// Returns the version of Ounce, because the evaluator is part of it.
std::string open_evaluator(const std::filesystem::path& library);
std::unique_ptr<LocalExecutor> load_in_evaluator(const LoadRequest& request);
// Throws Error{kUnsupported}, because packages are folders, which cannot be sent to another machine.
ModelFiles files_for_evaluator(const std::filesystem::path& model, const LoadSettings& settings);

}  // namespace ounce::runtime
