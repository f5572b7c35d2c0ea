// Replaces operators that pad or cut an image by SAME padding of the convolution, if both have the same
// effect.
//
//   x ─ PAD(p) ─ CONV_2D(VALID) ─ y                     →     x ─ CONV_2D(SAME) ─ y
//   x ─ TRANSPOSE_CONV(VALID) ─ t ─ STRIDED_SLICE ─ y   →     x ─ TRANSPOSE_CONV(SAME) ─ y
//
// SAME padding in each direction, with n values on the larger side, m = ceil(n / stride) on the other:
//
//   total  = max((m − 1) · stride + (kernel − 1) · dilation + 1 − n, 0)
//   before = floor(total / 2), after = total − before
//
// Conditions: FLOAT32; PAD pads zeros, only in both directions of the image, as much as SAME padding does, in
// front of a CONV_2D or DEPTHWISE_CONV_2D (other users of the padded value keep the PAD). The TRANSPOSE_CONV
// has one use and no activation, and the slice (or SLICE) takes, with step 1, the n values behind the first
// `before`, and all of the other dimensions. All shapes are known (known_shapes.h).
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the removed PADs and slices.
Changes absorb_padding(Model& model);

}  // namespace ounce::tflite
