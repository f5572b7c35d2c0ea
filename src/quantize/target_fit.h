// Makes a recipe keep to what its target has: an op variant that the target lacks is never written.
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

// Nodes whose integer or 16-bit form the target lacks stay in FP32, with a note. Throws Error{kUnsupported}
// that names what the target lacks when that does not help.
Recipe fit_to_target(const onnx::Model& original, const PreparedModel& prepared, const Recipe& recipe,
                     const target::Target& target, ThreadPool& pool, std::vector<std::string>& notes);

// Which measured releases do not run `written` although they run `original`, and why; empty when all do. For
// a model that was made for no target.
std::string where_it_fails(const onnx::Model& original, const onnx::Model& written);

// Asks the runtime for the types of values that the file does not tell: those behind sequences, and behind
// ops that nobody here knows.

// Declares the types of values of the main graph that graph::ElementTypes does not know, as far as the
// runtime does. Returns how many; none when the model does not load.
std::size_t declare_asked_types(onnx::Model& model, const RuntimeOptions& options);

// Which releases of ONNX Runtime run a model, by what was measured of them (target/support_matrix.h).

// A machine with this release, and nothing but its CPU.
target::Target target_of(const target::Release& release);

// By machine ("x64", "arm64", "wasm"): the oldest release from which on every measured one runs the model.
// Without the machines whose newest release does not. Of models with very many nodes nothing is said.
std::map<std::string, std::string> oldest_releases(const onnx::Model& model);
// None of other kinds: they were not measured.
std::map<std::string, std::string> oldest_releases(const model::ModelFile& model);

}  // namespace ounce::quantization
