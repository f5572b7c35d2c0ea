// ONNX models in ONNX Runtime, as a LocalExecutor.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/executor.h"
#include "runtime/ort/session.h"

namespace ounce::runtime {

std::string open_ort(const std::filesystem::path& library);
std::unique_ptr<LocalExecutor> load_in_ort(const LoadRequest& request);
ModelFiles files_for_ort(const std::filesystem::path& model, const LoadSettings& settings);

// The names that SessionOptions has among LoadSettings::options, beside entries of the session's own
// configuration. Not there where the value is the usual one.
inline constexpr const char* kThreadsBetween = "ounce.threads_between";
inline constexpr const char* kOptimization = "ounce.optimization";
inline constexpr const char* kSaveOptimized = "ounce.save_optimized";

// Throws Error{kBadInput} for a value that has no meaning.
SessionOptions session_options_of(const LoadSettings& settings);

}  // namespace ounce::runtime
