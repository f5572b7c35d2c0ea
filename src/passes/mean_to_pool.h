// The mean over all positions of a picture as a pool, which has an integer kernel.
//
//   x ─ ReduceMean(axes 2, 3; keepdims 1) ─ y     →     x ─ GlobalAveragePool ─ y
//   x ─ ReduceMean(axes 2, 3; keepdims 0) ─ y     →     x ─ GlobalAveragePool ─ Flatten ─ y
//
// Likewise with one axis behind a one-dimensional Conv. Conditions: the axes are constants and all that are
// behind the channels (the rank is that of the Conv in front of it), and it stands between integer ops
// (code_paths.h).
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// Counts the nodes that are gone.
Changes mean_to_pool(onnx::Model& model);

}  // namespace ounce::passes
