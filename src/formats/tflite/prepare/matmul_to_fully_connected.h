// Replaces BATCH_MATMUL with a constant matrix by FULLY_CONNECTED.
//
//   x [..., K] ─ BATCH_MATMUL(w [K, N]) ─ y   →   x ─ FULLY_CONNECTED(w' [N, K], keep_num_dims) ─ y
//
// w' is w transposed, or w itself with adj_y. FULLY_CONNECTED has a bias and a fused activation, scales for
// each channel in INT8, and hybrid kernels in XNNPACK; converters from other formats write BATCH_MATMUL.
// Values do not change, except for the order of sums.
//
// Conditions: FLOAT32; w is a constant of two dimensions, or of more that are 1; x is not transposed, has a
// last dimension of K, not dynamic, and as many dimensions as w or more. The transposed bytes are bounded
// (work_limit.h).
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the replaced operators.
Changes matmul_to_fully_connected(Model& model);

}  // namespace ounce::tflite
