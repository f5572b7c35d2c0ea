// Implements LocalExecutor for TFLite models with LiteRT.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/executor.h"
#include "runtime/litert/session.h"

namespace ounce::runtime {

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

}  // namespace ounce::runtime
