// Makes a recipe keep to what its target has: an op variant that the target lacks is never written.
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "make/prepared_model.h"
#include "target/target.h"

namespace ounce::make {

// Nodes whose integer or 16-bit form the target lacks stay in FP32, with a note. Throws Error{kUnsupported}
// that names what the target lacks when that does not help.
Recipe fit_to_target(const onnx::Model& original, const PreparedModel& prepared, const Recipe& recipe,
                     const target::Target& target, ThreadPool& pool, std::vector<std::string>& notes);

// Which measured releases do not run `written` although they run `original`, and why; empty when all do. For
// a model that was made for no target.
std::string where_it_fails(const onnx::Model& original, const onnx::Model& written);

}  // namespace ounce::make
