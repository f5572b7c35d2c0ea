// Makes an Add of one value a channel the bias of the op in front of it.
//
//   x ─ Conv(w, b) ─ Add(c) ─ y     →     x ─ Conv(w, b + c) ─ y
//
// Conditions: the op is a Conv, ConvTranspose or Gemm (linear_op.h) with constants for weight and bias (often
// it has no bias yet); its output goes to the Add alone and is no output of its graph; c is a float32
// constant on either side of the Add, and is [C,1,…] or [1,C,1,…] over the op's output, or a single value.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// At every depth, functions included. Counts the Adds that are gone.
Changes add_bias(onnx::Model& model);

}  // namespace ounce::passes
