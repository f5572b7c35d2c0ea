// Gives operators a form for which XNNPACK has an INT8 kernel. For static INT8 alone.
//
//   AVERAGE_POOL_2D over all of an image          →   MEAN over height and width, which it keeps
//   PRELU with one slope of 0 to 1 for all        →   LEAKY_RELU; RELU for a slope of 0
//   DIV by a constant                             →   MUL with its inverse, rounded once
//   SQUEEZE, EXPAND_DIMS                          →   RESHAPE
//   MAXIMUM with 0                                →   RELU
//   MINIMUM of such a RELU with 6                 →   RELU6
//
// LiteRT 2.3.0 with XNNPACK, one thread, nanoseconds for each value in INT8 (formats/tflite/plan/
// kernel_costs.inc): AVERAGE_POOL_2D 2.7 and 0.07 for each value that it reads, MEAN 0.007 for each;
// PRELU 2.95, LEAKY_RELU 0.03; DIV 30, MUL 0.17. Activations are fused afterwards (fuse_activations.h).
//
// Left unchanged, because of the same table: PRELU with different slopes and HARD_SWISH. Between a DEQUANTIZE
// and a QUANTIZE they cost 0.13 and 0.09, as products and sums of INT8 operators 0.42 and 0.25.
//
// Values are the same, but for the order of the sum in MEAN and the rounding of inverses. Ten pools of up to
// 4096 values in one row (selfie_segmentation of MediaPipe) change the output by as much as 1 in 5,000 (74
// dB) on random inputs, and by 114 dB on images; FP32 is not faster.
//
// Conditions: FLOAT32 (RESHAPE: any type); shapes that are written into a RESHAPE or compared are known
// (known_shapes.h); constants are in the file; an inverse is neither subnormal nor infinite; the pool has no
// activation and no padding.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the replaced operators.
Changes make_integer_forms(Model& model);

}  // namespace ounce::tflite
