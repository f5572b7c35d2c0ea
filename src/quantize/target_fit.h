// Fits a recipe to its target, so that only op variants that the target supports are written.
#pragma once

#include <ounce/recipe.h>
#include <ounce/runtime.h>

#include <map>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "model/model_file.h"
#include "quantize/prepared_model.h"
#include "target/support_matrix.h"
#include "target/target.h"

namespace ounce::quantization {

// Keeps nodes in FP32, with a note, if the target lacks their INT8 or 16-bit variant. Throws
// Error{kUnsupported} with the missing variant if this is not sufficient.
Recipe fit_to_target(const onnx::Model& original, const PreparedModel& prepared, const Recipe& recipe,
                     const target::Target& target, ThreadPool& pool, std::vector<std::string>& notes);

// Names the measured releases that run `original` but not `written`, and the reason; empty if there are none.
// For models that were made without a target.
std::string where_it_fails(const onnx::Model& original, const onnx::Model& written);

// Declares types of values in the main graph that graph::ElementTypes does not know (after sequences and
// unknown ops), as reported by the runtime. Returns their number; 0 if the model does not load.
std::size_t declare_asked_types(onnx::Model& model, const RuntimeOptions& options);

// The target with this release of ONNX Runtime and the CPU provider only.
target::Target target_of(const target::Release& release);

// Returns for each machine ("x64", "arm64", "wasm") the oldest measured release of ONNX Runtime such that it
// and all newer ones run the model (target/support_matrix.h). Omits machines whose newest release does not
// run it. Empty for models with very many nodes.
std::map<std::string, std::string> oldest_releases(const onnx::Model& model);
// Empty for other kinds of models, which were not measured.
std::map<std::string, std::string> oldest_releases(const model::ModelFile& model);

}  // namespace ounce::quantization
