// Test support: converts the embedded example (examples/commands/commands.onnx) to TFLite, with the same
// weights and channels last.
//
//   const Model model = example_tflite(OUNCE_EXAMPLES "/commands/commands.onnx");
//
// The input has the shape of the ONNX model, float32[1,1,8000], so the same samples can be fed to both.
#pragma once

#include <filesystem>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// Throws Error{kUnsupported} for operators that do not occur in the example.
Model example_tflite(const std::filesystem::path& onnx_model);

}  // namespace ounce::tflite
