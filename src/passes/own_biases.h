// Gives every Conv and Gemm a bias of its own, one value for each channel, as integer kernels want it.
//
//   b ┬ Conv         b  ─ Conv          b [1,N] ─ Gemm     →     b' [N] ─ Gemm
//     └ Conv    →    b' ─ Conv
//
// Exporters that merge equal tensors leave one bias (of zeros, say) to many ops; in integers each op's bias
// has units of its own. Conditions: the bias is a float32 constant of [N], or for Gemm of [1,N], [1] or a
// single value.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// At every depth, functions included. Counts the biases that were made.
Changes own_biases(onnx::Model& model);

}  // namespace ounce::passes
