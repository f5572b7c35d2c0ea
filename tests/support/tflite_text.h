// TFLite models as text, for tests of passes: the inputs and outputs, then a line per operator.
//
//   EXPECT_EQ(text_of(model),
//             "x -> y\n"
//             "CONV_2D(x, w, b) stride_w=1 stride_h=1 -> c\n"
//             "TRANSPOSE_CONV.4(shape, v, c) fused_activation_function=1 -> y\n");
//
// The version follows an operator's name if it is not 1. Options that are 0 are left out. Constants appear by
// name only; constants_of() prints their values.
#pragma once

#include <string>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

std::string text_of(const Model& model);

// One line per tensor with values: "w FLOAT32[1,2] = 0.5 -1". The values are those that to_bytes() writes.
std::string constants_of(const Model& model);

}  // namespace ounce::tflite
