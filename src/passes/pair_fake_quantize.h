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
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// At every depth, functions included. Counts the pairs that were written.
Changes pair_fake_quantize(onnx::Model& model);

}  // namespace ounce::passes
