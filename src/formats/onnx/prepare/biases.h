// Makes an Add of one value a channel the bias of the op in front of it.
//
//   x ─ Conv(w, b) ─ Add(c) ─ y     →     x ─ Conv(w, b + c) ─ y
//
// Conditions: the op is a Conv, ConvTranspose or Gemm (linear_op.h) with constants for weight and bias (often
// it has no bias yet); its output goes to the Add alone and is no output of its graph; c is a float32
// constant on either side of the Add, and is [C,1,…] or [1,C,1,…] over the op's output, or a single value.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// At every depth, functions included. Counts the Adds that are gone.
Changes add_bias(onnx::Model& model);

// Gives every Conv and Gemm a bias of its own, one value for each channel, as integer kernels want it.
//
//   b ┬ Conv         b  ─ Conv          b [1,N] ─ Gemm     →     b' [N] ─ Gemm
//     └ Conv    →    b' ─ Conv
//
// Exporters that merge equal tensors leave one bias (of zeros, say) to many ops; in integers each op's bias
// has units of its own. Conditions: the bias is a float32 constant of [N], or for Gemm of [1,N], [1] or a
// single value.

// At every depth, functions included. Counts the biases that were made.
Changes own_biases(onnx::Model& model);

}  // namespace ounce::passes
