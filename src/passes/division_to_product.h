// Division by a number as a product, which on codes is no work at all: the same codes, read with another
// scale.
//
//   x ─ Div(n) ─ y     →     x ─ Mul(1/n) ─ y
//
// Condition: n is a single constant number, neither it nor 1/n too small or too large for a float, and it
// stands between integer ops (code_paths.h). In floats 1/n is rounded once: the last bit may differ.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// Counts the nodes that are gone.
Changes division_to_product(onnx::Model& model);

}  // namespace ounce::passes
