// Replaces what is computed of constants alone by the result.
//
//   SHAPE(x [1,64,128]) ─ GATHER ─ shape ─ RESHAPE     →     shape = [64,128] ─ RESHAPE
//   w ─ TRANSPOSE ─ w' ─ CONV_2D                       →     w' ─ CONV_2D
//
// The operators of constant_ops.h. Values are those of the kernels, to the bit.
//
// Conditions: every input is a dense constant in the file, of SHAPE one whose shape is known
// (known_shapes.h); the output is an inner tensor of known shape, and the result has that shape. New
// constants are bounded (work_limit.h); RESHAPE and its like make none.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the new constants.
Changes fold_constants(Model& model);

}  // namespace ounce::tflite
