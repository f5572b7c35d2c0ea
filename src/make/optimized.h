// A model as ONNX Runtime's offline optimisation leaves it.
#pragma once

#include <ounce/emit.h>

#include <filesystem>
#include <optional>

#include "onnx/model.h"

namespace ounce::make {

// Throws what runtime::write_ort() throws.
void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const EmitOptions& options);

// Nothing where there is no ONNX Runtime, or none that loads the model.
std::optional<onnx::Model> optimized_model(const std::filesystem::path& model, const EmitOptions& options);

}  // namespace ounce::make
