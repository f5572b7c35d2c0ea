// A model whose inputs or outputs are integers or 16-bit floats, run as if they were floats: what goes in is
// coded, what comes out is decoded, as its metadata says (formats/onnx/emit/integer_ports.h). So it can be
// held against its original.
#pragma once

#include <memory>
#include <vector>

#include "formats/onnx/emit/integer_ports.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

// `model` itself when there are no ports.
std::unique_ptr<runtime::Executor> with_float_ports(std::unique_ptr<runtime::Executor> model,
                                                    const std::vector<passes::Port>& ports);

// Loads a model and gives it float ports. `path` is read twice: by us and by the runtime.
std::unique_ptr<runtime::Executor> load_as_floats(const std::filesystem::path& path,
                                                  const runtime::ExecutorOptions& options);

}  // namespace ounce::evaluate
