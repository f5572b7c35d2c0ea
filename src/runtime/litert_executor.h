// TFLite models in LiteRT, as a LocalExecutor.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/executor.h"
#include "runtime/litert/session.h"

namespace ounce::runtime {

std::string open_litert(const std::filesystem::path& library);
// Throws Error{kBadInput} for an option of LiteRT that has no meaning.
litert::SessionOptions litert_options_of(const LoadSettings& settings);
// Throws Error{kUnsupported} for settings that only ONNX Runtime has, and Error{kBadInput} for an option of
// LiteRT that has no meaning.
std::unique_ptr<LocalExecutor> load_in_litert(const LoadRequest& request);
ModelFiles files_for_litert(const std::filesystem::path& model, const LoadSettings& settings);

// The one option of LiteRT among LoadSettings::options: "xnnpack" (the usual one) or "builtin". Names that do
// not begin with "litert." are of other runtimes, whose models may be loaded with the same options.
inline constexpr const char* kLitertKernels = "litert.kernels";

}  // namespace ounce::runtime
