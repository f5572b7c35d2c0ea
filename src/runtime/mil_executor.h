// ML Programs of Core ML in the evaluator (mil/program.h), as a LocalExecutor.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/executor.h"

namespace ounce::runtime {

// What stands for the version of a library in results: the evaluator is part of Ounce.
std::string open_evaluator(const std::filesystem::path& library);
std::unique_ptr<LocalExecutor> load_in_evaluator(const LoadRequest& request);
// Throws Error{kUnsupported}: a package is a folder, which is not sent to another machine.
ModelFiles files_for_evaluator(const std::filesystem::path& model, const LoadSettings& settings);

}  // namespace ounce::runtime
