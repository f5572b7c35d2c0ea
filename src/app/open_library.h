// ONNX Runtime for an app.
#pragma once

#include <memory>
#include <string>

#include "runtime/library.h"

namespace ounce::app {

// Throws Failure{kNoRuntime}.
std::shared_ptr<const runtime::Library> open_library(const std::string& wanted);

}  // namespace ounce::app
