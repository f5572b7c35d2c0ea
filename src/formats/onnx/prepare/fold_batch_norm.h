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

}  // namespace ounce::passes
