// Runs a model with integer or FP16 inputs and outputs as if they were FP32: inputs are quantized and outputs
// are dequantized as the model file says. So the model can be compared with its original.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "model/model_file.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

// Returns `model` itself when there are no such ports.
std::unique_ptr<runtime::Executor> with_dequantized_io(std::unique_ptr<runtime::Executor> model,
                                                       const std::vector<model::QuantizedPort>& ports);

// Loads a model with FP32 inputs and outputs. `path` is read twice: here and by the runtime.
std::unique_ptr<runtime::Executor> load_as_floats(const std::filesystem::path& path,
                                                  const runtime::ExecutorOptions& options);

}  // namespace ounce::evaluate
