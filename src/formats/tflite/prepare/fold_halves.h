// Makes FP32 constants of FP16 constants that are converted before they are used.
//
//   w16 ─ DEQUANTIZE ─ w ─ CONV_2D     →     w ─ CONV_2D
//   w16 ─ CAST ─ w ─ CONV_2D                 w ─ CONV_2D
//
// Every FP16 number is an FP32 number, so no value changes. The new constant is computed while a file is
// written (edit/float_values.h): it takes no memory.
//
// Conditions: w16 is a dense constant of type FLOAT16 in the file; w is FLOAT32 of the same shape. FP16
// constants that operators take as they are stay.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the new constants.
Changes fold_halves(Model& model);

}  // namespace ounce::tflite
