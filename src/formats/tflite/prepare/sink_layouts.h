// Removes operators that change the layout of values and change it back.
//
//   c ─ TRANSPOSE ─ RESHAPE ─ LEAKY_RELU ─ RESHAPE ─ TRANSPOSE ─ CONV_2D     →     c ─ LEAKY_RELU ─ CONV_2D
//
//   a ─ TRANSPOSE ┐                                                a ┐
//   b ─ TRANSPOSE ┴ ADD ─ s ┬ TRANSPOSE⁻¹ ─ CONV_2D        →       b ┴ ADD ─ s' ┬ CONV_2D
//                           └ other users                                       └ TRANSPOSE ─ s ─ other users
//
// Converters from formats with channels first write such operators around each convolution. The operators
// move all values and compute nothing.
//
// A layout is a TRANSPOSE, or a RESHAPE, SQUEEZE or EXPAND_DIMS that only adds or drops dimensions of size 1.
// The pass moves layouts forward to the operators that need their result. There, a row of layouts becomes
// nothing if the layouts cancel, else one RESHAPE, one TRANSPOSE, or both. Element-wise operators (unary
// ones; ADD and similar ones of values with the same layout, or with one number) and reductions over
// dimensions then compute with the values before the layout. Values do not change, except for the order of
// sums in reductions.
//
// The pass changes the model only if less is moved: elements of TRANSPOSE count kTransposeCost times, those
// of layouts that keep the order of values once.
//
// Conditions: FLOAT32, of known shapes (known_shapes.h) without a 0; the order of a TRANSPOSE is a constant.
// Fixed values (inputs, outputs, and so on) do not change.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the removed layouts.
Changes sink_layouts(Model& model);

}  // namespace ounce::tflite
