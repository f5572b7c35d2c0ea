// TFLite models as text, for tests of passes: what goes in and out, then a line for each operator.
//
//   EXPECT_EQ(text_of(model),
//             "x -> y\n"
//             "CONV_2D(x, w, b) stride_w=1 stride_h=1 -> c\n"
//             "TRANSPOSE_CONV.4(shape, v, c) fused_activation_function=1 -> y\n");
//
// An operator has its version behind its name if that is not 1, and the options that are not 0. Constants
// have their names alone; constants_of() lists them.
#pragma once

#include <string>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

std::string text_of(const Model& model);

// A line for each tensor with values: "w FLOAT32[1,2] = 0.5 -1". Values are written as to_bytes() writes
// them.
std::string constants_of(const Model& model);

}  // namespace ounce::tflite
