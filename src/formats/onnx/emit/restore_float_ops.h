// Puts back what was taken apart for integers (hard_swish.h, tanh_to_sigmoid.h) and stayed in floats all the
// same, because a plan or a search left it there: one float op is faster than its parts.
//
//   x ─ Mul(α) ─ Add(β) ─ Clip(0, 1) ─ y                      →     x ─ HardSigmoid(α, β) ─ y
//   x ─ Clip(-3, ∞) ─┬─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─┬─ Mul ─ y     →     x ─ HardSwish ─ y
//                    └────────────────────────────────────┘
//   x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1) ─ y               →     x ─ Tanh ─ y
//
// Conditions: all numbers are single constants, and nobody else looks at what is between. The parts that
// compute on integers stand between Q/DQ, or are gone, and do not look like this.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Counts the ops that are whole again.
Changes restore_float_ops(onnx::Model& model);

}  // namespace ounce::passes
