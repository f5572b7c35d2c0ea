// Implements LocalExecutor for ONNX models with ONNX Runtime.
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

// Keys in LoadSettings::options for fields of SessionOptions; all other keys are config entries of the
// session. Missing keys mean the default.
inline constexpr const char* kThreadsBetween = "ounce.threads_between";
inline constexpr const char* kOptimization = "ounce.optimization";
inline constexpr const char* kSaveOptimized = "ounce.save_optimized";

// Throws Error{kBadInput} for an invalid value.
SessionOptions session_options_of(const LoadSettings& settings);

}  // namespace ounce::runtime
