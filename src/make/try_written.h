// The trial of a written model in the form that its recipe asks for: 16-bit floats are tried as they are, and
// once more as a processor rounds them that really computes on them (passes/emulate_halves.h).
#pragma once

#include <ounce/quantize.h>

#include <filesystem>

#include "make/trial.h"
#include "onnx/writer.h"

namespace ounce::make {

// Throws what try_model() throws, and Error{kUnsupported} when values leave the range of 16-bit floats. Adds
// notes to `result`.
TrialResult try_written(const std::filesystem::path& original, const std::filesystem::path& name,
                        const onnx::ModelOutput& output, const Recipe& recipe, const QuantizeOptions& options,
                        const Work& work, QuantizeResult& result);

}  // namespace ounce::make
