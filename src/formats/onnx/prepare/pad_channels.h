// Channels of depthwise convolutions up to the next multiple of 16: integer kernels take 16 at a time, and
// the rest one by one.
//
//   x ─ Conv → 72 ─ Relu ─ Conv depthwise 72 ─ Relu ─ Conv 72 → 24 ─ y
//                                                    →     x ─ Conv → 80 ─ Relu ─ Conv depthwise 80 ─ Relu ─
//                                                    Conv 80 → 24 ─ y
//
//   28×28, 3×3, ONNX Runtime 1.31, AVX-512 VNNI:     72 channels 140 µs, 80: 68;     120: 212, 128: 101; 200:
//   326, 208: 127
//
// The new channels have weights and biases of zero; whatever ops make of them, those who take them multiply
// them with zero. So the outputs are the same, but for the order of sums in kernels. Float kernels work on
// blocks of 8 or 16 channels anyway and do not get slower.
//
// Conditions: all values that have these channels come from convolutions with constant float weights (of one
// group, or depthwise) and go to such, through ops that keep channels apart (clamps, activations, pools, sums
// and products with each other or with single numbers); none is an input or an output of the model or is used
// in another body; 24 channels or more.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Counts the sets of values that got more channels.
Changes pad_channels(onnx::Model& model);

}  // namespace ounce::passes
