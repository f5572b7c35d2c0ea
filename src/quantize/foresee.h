// Predicts the result of quantize() without data and without writing a file: the plan and the file size.
#pragma once

#include <ounce/model.h>
#include <ounce/recipe.h>

#include "model/model_file.h"

namespace ounce::quantization {

// Fills in the tensors, notes, blockers and size of `info`, which names the model. Throws Error{kUsage} for
// an invalid recipe.
void foresee(const model::ModelFile& file, const Recipe& recipe, ModelInfo& info);

}  // namespace ounce::quantization
