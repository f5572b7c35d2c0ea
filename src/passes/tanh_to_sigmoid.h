// Tanh as a Sigmoid, which has an integer kernel.
//
//   x ─ Tanh ─ y     →     x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1) ─ y          tanh(x) = 2·σ(2·x) - 1
//
// On codes only the Sigmoid is left: the others are other scales, and another zero, of the same codes. So
// gated units (tanh · σ), as in WaveNets, stay on integers.
//
// Condition: it stands between integer ops (code_paths.h).
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// Counts the nodes that are gone.
Changes tanh_to_sigmoid(onnx::Model& model);

}  // namespace ounce::passes
