// Puts a BatchNormalization into the weight and bias of the op in front of it.
//
//   x ─ Conv(w, b) ─ BatchNormalization(scale, B, mean, var) ─ y     →     x ─ Conv(w', b') ─ y
//
//   s  = scale / sqrt(var + epsilon)          for each channel
//   w' = w · s
//   b' = (b − mean) · s + B
//
// All of it in float64, rounded once to float32, also when several normalisations follow one another.
//
// Conditions: the op is a Conv, ConvTranspose or Gemm (linear_op.h) whose weight and bias are constants of
// type float32; its output goes to the normalisation alone and is no output of its graph; the normalisation
// is that of inference, per channel, with constants for parameters. A weight that others use too stays for
// them, and the new one gets a name of its own.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// At every depth, functions included. Counts the normalisations that are gone.
Changes fold_batch_norm(onnx::Model& model);

// Makes an Add of one value a channel the bias of the op in front of it.
//
//   x ─ Conv(w, b) ─ Add(c) ─ y     →     x ─ Conv(w, b + c) ─ y
//
// Conditions: the op is a Conv, ConvTranspose or Gemm (linear_op.h) with constants for weight and bias (often
// it has no bias yet); its output goes to the Add alone and is no output of its graph; c is a float32
// constant on either side of the Add, and is [C,1,…] or [1,C,1,…] over the op's output, or a single value.

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

// At every depth, functions included. Counts the new biases.
Changes unshare_biases(onnx::Model& model);

// Weights and biases that are moved, clipped or converted before their op takes them become constants of
// their own, as integer kernels want them.
//
//   w ─ Transpose ─ MatMul     →     w' ─ MatMul         w' holds the values of w, transposed
//
// Conditions: the op multiplies with weights, or adds what may become the bias of one; everything behind its
// input is constant (qat/constant_subgraphs.h says which ops are seen through), the constant has no other use
// (a tied table stays one), and the result is float32. The new constant is made once for all that take the
// same value; what is left without a use goes with remove_dead_nodes().

// At every depth, functions included. Counts the inputs that became constants.
Changes fold_constants(onnx::Model& model);

}  // namespace ounce::passes
