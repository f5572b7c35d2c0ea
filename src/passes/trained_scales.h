// Keeps what quantization-aware training has learnt: its scales stay, and its weights are stored as the codes
// that they were trained for.
//
//   w ─ QuantizeLinear(s, z) ─ DequantizeLinear(s, z) ─ op     →     codes ─ DequantizeLinear(s, z) ─ op
//
//   w ─ Transpose ─ QuantizeLinear(s, z) ─ Clip(-127, 127) ─ DequantizeLinear(s, z) ─ op     →     the same
//
// The codes are those that QuantizeLinear makes (linear_codes.h), so no output changes. Where training is
// written out in float ops or as Brevitas's Quant, these become pairs first (pair_fake_quantize.h), on
// weights and on activations.
//
// Conditions: w, s and z are constants, which Transpose, Reshape, Identity, Clip, Max, Min and Cast may have
// brought into shape (frozen_values.h); every DequantizeLinear behind has the scale and zero of the
// QuantizeLinear. The floats stay for others that use them; what nobody uses is left to remove_dead_nodes.h.
// QuantizeLinear makes no int32, so a bias behind such a pair is left alone.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// At every depth, functions included. Counts the pairs that were written and the weights that were stored.
Changes store_trained_weights(onnx::Model& model);

}  // namespace ounce::passes
