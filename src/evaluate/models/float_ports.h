// A model whose inputs or outputs are integers or 16-bit floats, run as if they were floats: what goes in is
// quantized, what comes out is dequantized, as the model file says. So it can be compared with its original.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "model/model_file.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

// `model` itself when there are no ports.
std::unique_ptr<runtime::Executor> with_float_ports(std::unique_ptr<runtime::Executor> model,
                                                    const std::vector<model::QuantizedPort>& ports);

// Loads a model and gives it float ports. `path` is read twice: by us and by the runtime.
std::unique_ptr<runtime::Executor> load_as_floats(const std::filesystem::path& path,
                                                  const runtime::ExecutorOptions& options);

}  // namespace ounce::evaluate
