// HardSigmoid and HardSwish as sums, limits and products, which have integer kernels.
//
//   x ─ HardSigmoid(α, β) ─ y     →     x ─ Mul(α) ─ Add(β) ─ Clip(0, 1) ─ y
//
//   x ─ HardSwish ─ y             →     x ─ Clip(-3, ∞) ─┬─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─┬─ Mul ─ y
//                                                        └────────────────────────────────────┘
//
// On codes the Mul by a number is only another scale, the Clips are the limits of the codes in front of them,
// and what is left is one QLinearAdd and one QLinearMul. The first Clip changes nothing, as HardSwish is 0
// below -3, but codes need not reach further down than that; it is left out where x is used elsewhere, too. A
// product x · HardSigmoid(x) is treated likewise.
//
// Condition: it stands between integer ops (code_paths.h).
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// Counts the nodes that are gone.
Changes rewrite_hard_swish(onnx::Model& model);

}  // namespace ounce::passes
