// Folds a BatchNormalization into the weight and bias of the op in front of it.
//
//   x ─ Conv(w, b) ─ BatchNormalization(scale, B, mean, var) ─ y     →     x ─ Conv(w', b') ─ y
//
//   s  = scale / sqrt(var + epsilon)          for each channel
//   w' = w · s
//   b' = (b − mean) · s + B
//
// Computed in float64 and rounded once to float32, also for several consecutive normalizations.
//
// Conditions: the op is a Conv, ConvTranspose or Gemm (linear_op.h) with float32 constants as weight and
// bias; its only user is the normalization, and it is not an output of its graph; the normalization is in
// inference mode, per channel, with constant parameters. If other nodes use the weight, it is kept and the
// new one gets a fresh name.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Processes all bodies, functions included. Counts the removed normalizations.
Changes fold_batch_norm(onnx::Model& model);

// Folds an Add of a per-channel constant into the bias of the op in front of it.
//
//   x ─ Conv(w, b) ─ Add(c) ─ y     →     x ─ Conv(w, b + c) ─ y
//
// Conditions: the op is a Conv, ConvTranspose or Gemm (linear_op.h) with a constant weight and a constant or
// missing bias; its only user is the Add, and it is not an output of its graph; c is a float32 constant on
// either side of the Add, [C,1,…] or [1,C,1,…] relative to the op's output, or a scalar.

// Processes all bodies, functions included. Counts the removed Adds.
Changes add_bias(onnx::Model& model);

// Gives every Conv and Gemm its own bias with one value per channel, as integer kernels need it.
//
//   b ┬ Conv         b  ─ Conv          b [1,N] ─ Gemm     →     b' [N] ─ Gemm
//     └ Conv    →    b' ─ Conv
//
// Exporters that merge equal tensors share one bias (often zeros) between ops, but each op's int32 bias has
// its own scale. Conditions: the bias is a float32 constant of shape [N], or for Gemm [1,N], [1] or a scalar.

// Processes all bodies, functions included. Counts the new biases.
Changes unshare_biases(onnx::Model& model);

// Folds ops that move, clip or convert weights and biases into new constants, as integer kernels need them.
//
//   w ─ Transpose ─ MatMul     →     w' ─ MatMul         w' has the values of w, transposed
//
// Conditions: the op multiplies with a weight, or adds a value that may become a bias; everything behind its
// input is constant (qat/constant_subgraphs.h lists the supported ops), the constant has no other use (tied
// tables are not duplicated), and the result is float32. Users of the same value share the new constant;
// remove_dead_nodes() removes unused rest.

// Processes all bodies, functions included. Counts the inputs that became constants.
Changes fold_constants(onnx::Model& model);

}  // namespace ounce::passes
