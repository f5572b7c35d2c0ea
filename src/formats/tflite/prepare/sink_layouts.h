// Removes pairs of operators that turn values one way and back again.
//
//   c ─ TRANSPOSE ─ RESHAPE ─ LEAKY_RELU ─ RESHAPE ─ TRANSPOSE ─ CONV_2D     →     c ─ LEAKY_RELU ─ CONV_2D
//
//   a ─ TRANSPOSE ┐                                                a ┐
//   b ─ TRANSPOSE ┴ ADD ─ s ┬ TRANSPOSE⁻¹ ─ CONV_2D        →       b ┴ ADD ─ s' ┬ CONV_2D
//                           └ other users                                       └ TRANSPOSE ─ s ─ other users
//
// A converter from a format with the channels first writes them around each convolution. They move all values
// and compute nothing, in FP32 and in INT8.
//
// A layout is a TRANSPOSE, or a RESHAPE, SQUEEZE or EXPAND_DIMS that only adds or drops dimensions of size 1.
// It is not computed where it is in the file, but where an operator needs its result, from the value before
// the first of a row of layouts: by nothing if they cancel, else by one RESHAPE, one TRANSPOSE, or both.
// Operators on single values (unary ones; ADD and its like of values with the same layout, or with one
// number) compute with the values before the layout, and so do reductions over dimensions. Their output has
// the layout of their input. No value changes, but the order of sums in reductions.
//
// The result is taken only if it moves less: elements of TRANSPOSE count kTransposeCost times, those of
// layouts that keep the order of values once.
//
// Conditions: FLOAT32, of known shapes (known_shapes.h) without a 0; the order of a TRANSPOSE is a constant.
// Fixed values (inputs, outputs, and so on) do not change.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// In every subgraph. Counts the layouts that are gone.
Changes sink_layouts(Model& model);

}  // namespace ounce::tflite
