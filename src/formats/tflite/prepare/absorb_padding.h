// Makes SAME padding of what is padded or cut off by operators of its own, where both are equal.
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
// front of a CONV_2D or DEPTHWISE_CONV_2D (others that take what is padded keep it); of a TRANSPOSE_CONV with
// one use, without an activation, the slice (or SLICE) takes with step 1 the n values behind the first
// `before`, and all of the other dimensions; all of known shape (known_shapes.h).
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// In every subgraph. Counts the PADs and slices that operators do without.
Changes absorb_padding(Model& model);

}  // namespace ounce::tflite
