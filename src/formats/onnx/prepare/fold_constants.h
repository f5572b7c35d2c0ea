// Weights and biases that are moved, clipped or converted before their op takes them become constants of
// their own, as integer kernels want them.
//
//   w ─ Transpose ─ MatMul     →     w' ─ MatMul         w' holds the values of w, transposed
//
// Conditions: the op multiplies with weights, or adds what may become the bias of one; everything behind its
// input is constant (frozen_values.h says which ops are seen through), the constant has no other use (a tied
// table stays one), and the result is float32. The new constant is made once for all that take the same
// value; what is left without a use goes with remove_dead_nodes().
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// At every depth, functions included. Counts the inputs that became constants.
Changes fold_constants(onnx::Model& model);

}  // namespace ounce::passes
