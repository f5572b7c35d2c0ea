// Makes the channels of activations more alike before they are quantized with one scale for all of them,
// where channels with small values lose their bits beside those with large ones. A positive factor for each
// channel (channel_factors.h) goes out of the op that makes the activation and into the weights that take it:
//
//   Conv(w, b) ─ Relu ─ x ─ Conv(v)        →   Conv(w/s, b/s) ─ Relu ─ x/s ─ Conv(v·s)
//   LayerNormalization(g, b) ─ x ┬ MatMul(q)   LayerNormalization(g/s, b/s) ─ x/s ┬ MatMul(q·s)
//                                ├ MatMul(k)                                      ├ MatMul(k·s)
//                                └ MatMul(v)                                      └ MatMul(v·s)
//
// The model computes the same in floats. Weights that have a scale for each output channel lose nothing when
// that channel gets a factor, so the op in front pays no price.
//
//   Makes x:  Conv, ConvTranspose, Gemm; MatMul with a constant on its right side; Mul by a constant along
//             the last axis (both with or without an Add of such a constant: the older form of
//             normalisations); LayerNormalization.
//   Between:  Relu, LeakyRelu, PRelu, Identity; where channels are the second axis also MaxPool, AveragePool,
//             GlobalMaxPool, GlobalAveragePool, and behind a global one Flatten.
//   Takes x:  Conv (any group), Gemm, MatMul with a constant on its right side.
//
// Conditions: x and all values between are used by such ops alone, in the same graph; the parameters are
// float32 constants that no other node uses; the values that are multiplied were observed, channel by
// channel; the noise is predicted to become less. So these stay as they are: a value that also goes into a
// residual sum (the other summands would need the same factors), Clip with an upper limit, Gelu and the like
// (they do not commute with a factor), SkipLayerNormalization.
#pragma once

#include <string>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

struct Equalization : Changes {
  std::vector<std::string> done;      // "node '/n1/LayerNormalization': alpha 0.5, predicted 3.2 dB better"
  std::vector<std::string> rescaled;  // graph::value_path(): what `ranges` says of them is no longer true
};

// In the main graph and in those inside of it; nothing is known of values in functions and loops. `ranges`
// are those of this very model, and afterwards it has to be observed again.
Equalization equalize(onnx::Model& model, const calibration::Ranges& ranges);

}  // namespace ounce::passes
