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

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// At every depth, functions included. Counts the pairs that were written and the weights that were stored.
Changes store_trained_weights(onnx::Model& model);

// Writes the quantization that training simulates as what it is.
//
//   x ─ Div(s) ─ Add(z) ─ Round ─ Clip(lo, hi) ─ Sub(z) ─ Mul(s) ─ y
//
//                  →      x ─ QuantizeLinear(s, z) ─ DequantizeLinear(s, z) ─ y
//
// fake_quantize.h says which forms are found, and the conditions. A range that is narrower than its type,
// [-127, 127] say, is kept by a Clip of the floats, or by Max and Min where each channel has a scale.
//
// Codes can differ by one where x/s lies within a rounding error of the middle between two, since a product
// with 1/s, or a sum with z in front of the Round, rounds another way than the division of QuantizeLinear.

// At every depth, functions included. Counts the pairs that were written.
Changes pair_fake_quantize(onnx::Model& model);

}  // namespace ounce::passes
