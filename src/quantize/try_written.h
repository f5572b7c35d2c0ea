// The trial of a written model in the form that its recipe asks for: 16-bit floats are tried as they are, and
// once more as a processor rounds them that really computes on them (formats/onnx/emit/emulate_halves.h).
#pragma once

#include <ounce/quantize.h>

#include <filesystem>

#include "formats/onnx/file/writer.h"
#include "quantize/trial.h"

namespace ounce::quantization {

// Throws what try_model() throws, and Error{kUnsupported} when values leave the range of 16-bit floats. Adds
// notes to `result`.
TrialResult try_written(const std::filesystem::path& original, const std::filesystem::path& name,
                        const onnx::ModelOutput& output, const Recipe& recipe, const QuantizeOptions& options,
                        const Work& work, QuantizeResult& result);

// The same of a model that has its name already, whoever wrote it: it is neither timed nor run on other CPUs.
// Throws what try_model() throws.
TrialResult try_file(const std::filesystem::path& original, const std::filesystem::path& model,
                     const Recipe& recipe, const TrialOptions& options, std::uint64_t original_bytes);

// Integer ops are in place; the rest runs in FP16.
bool computes_rest_on_halves(const Recipe& recipe);

}  // namespace ounce::quantization
