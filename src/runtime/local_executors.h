// Implements LocalExecutor with each runtime. executor.cpp has a row for each.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/executor.h"
#include "runtime/litert/session.h"
#include "runtime/ort/session.h"

namespace ounce::runtime {

// ONNX models with ONNX Runtime.

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

// TFLite models with LiteRT.

std::string open_litert(const std::filesystem::path& library);
// Throws Error{kBadInput} for an invalid option of LiteRT.
litert::SessionOptions litert_options_of(const LoadSettings& settings);
// Throws Error{kUnsupported} for settings that only ONNX Runtime supports, Error{kBadInput} for an invalid
// option of LiteRT.
std::unique_ptr<LocalExecutor> load_in_litert(const LoadRequest& request);
ModelFiles files_for_litert(const std::filesystem::path& model, const LoadSettings& settings);

// The only option of LiteRT in LoadSettings::options: "xnnpack" (default) or "builtin". Options that do not
// begin with "litert." belong to other runtimes and are ignored, because the same options may be used for
// models of several kinds.
inline constexpr const char* kLitertKernels = "litert.kernels";

// Core ML's ML Programs with the evaluator (mil/program.h).

// Returns the version of Ounce, because the evaluator is part of it.
std::string open_evaluator(const std::filesystem::path& library);
std::unique_ptr<LocalExecutor> load_in_evaluator(const LoadRequest& request);
// Throws Error{kUnsupported}, because packages are folders, which cannot be sent to another machine.
ModelFiles files_for_evaluator(const std::filesystem::path& model, const LoadSettings& settings);

}  // namespace ounce::runtime
