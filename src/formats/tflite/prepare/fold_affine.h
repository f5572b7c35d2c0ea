// Puts additions and multiplications with a constant for each channel into the weight and bias of the
// operator in front of them: batch normalizations, and biases that a converter wrote as operators of their
// own.
//
//   x ─ CONV_2D(w, b) ─ MUL(s) ─ ADD(t) ─ y     →     x ─ CONV_2D(w', b') ─ y
//
//   w' = w · s        for each channel, in float64, rounded once to float32, whatever the number of operators
//   b' = b · s + t
//
//   y + t   s = 1, t          t + y   the same          y · s   s, 0
//   y − t   s = 1, −t         t − y   s = −1, t         y / s   1 / s, 0
//
// The weight does not change if s is 1 in all channels.
//
// Conditions: the operator is a CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED or TRANSPOSE_CONV without an
// activation, FLOAT32, with a constant bias or none, and a constant weight unless s is 1; each value in
// between has one use and is no output; the constant is FLOAT32, one value or one for each
// channel, and does not change the shape. Nothing overflows, and no number that counts becomes subnormal. The
// last operator may have an activation: it goes along. New weights are bounded (work_limit.h).
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the folded additions and multiplications.
Changes fold_affine(Model& model);

}  // namespace ounce::tflite
