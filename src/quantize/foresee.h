// What quantize() would do with a model, without data and without writing: the plan, and the size it leads
// to.
#pragma once

#include <ounce/inspect.h>
#include <ounce/recipe.h>

#include "model/model_file.h"

namespace ounce::quantization {

// Fills in the tensors, notes, blockers and size of `info`, which names the model. Throws Error{kUsage} for a
// recipe that makes no sense.
void foresee(const model::ModelFile& file, const Recipe& recipe, ModelInfo& info);

}  // namespace ounce::quantization
