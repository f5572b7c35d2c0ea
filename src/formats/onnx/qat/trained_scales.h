// Keeps the result of quantization-aware training: the scales do not change, and the weights are stored as
// the integers that they were trained for.
//
//   w ─ QuantizeLinear(s, z) ─ DequantizeLinear(s, z) ─ op     →     codes ─ DequantizeLinear(s, z) ─ op
//
//   w ─ Transpose ─ QuantizeLinear(s, z) ─ Clip(-127, 127) ─ DequantizeLinear(s, z) ─ op     →     the same
//
// The integers are those that QuantizeLinear computes (linear_codes.h), so no output changes.
//
// Conditions: w, s and z are constants, which Transpose, Reshape, Identity, Clip and Cast may have brought
// into shape (constant_subgraphs.h); every DequantizeLinear after the QuantizeLinear has the same scale and
// zero point. The FP32 weight is kept for other users of it; prepare/remove_nodes.h removes it if there are
// none. QuantizeLinear cannot output int32, so a bias behind such a pair is left alone.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// At every depth, functions included. Counts the weights that were stored.
Changes store_trained_weights(onnx::Model& model);

}  // namespace ounce::passes
