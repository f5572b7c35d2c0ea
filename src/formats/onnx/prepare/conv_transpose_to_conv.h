// A transposed convolution as a convolution, which has an integer kernel.
//
// Along one axis with a stride of s, output o gets input i by the tap k where o = s·i - pad + k. Taps with
// the same remainder r of k by s make the outputs with the same remainder of o + pad: s convolutions without
// a stride, of ⌈K/s⌉ taps each, which one Conv computes as s times the channels.
//
//   x ─ ConvTranspose(w[C, M, K], s) ─ y
//                              →     x ─ Conv(w'[s·M, C, ⌈K/s⌉]) ─ Transpose ─ Reshape ─ Slice ─ Transpose ─
//                              y
//        channels:                      (r, m)                    last        m            first
//
//   w'[r·M + m, c, ⌈K/s⌉ - 1 - q] = w[c, m, s·q + r], and 0 where there is no such tap
//
// With the channels last, which is how integer kernels compute, the Transposes are no work and the Reshape is
// none either. In two dimensions columns are put in order first, then rows, with a Transpose that really
// moves between. The Slice cuts off what the pads do; it is left out where that is nothing. A Relu or Clip
// right behind is put right behind the Conv, whose codes' limits it can become. The Conv keeps the node's
// name.
//
// Conditions: one or two dimensions; a constant float weight and bias; pads are written out; at least four
// inputs in a group; no more than twice the multiplications (taps that do not divide by the stride leave
// zeros, and so do dilations); the ConvTranspose leads to integer ops (code_paths.h).
#pragma once

#include <functional>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Those that `is_wanted` picks. Counts the nodes that are gone.
Changes conv_transpose_to_conv(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted);

}  // namespace ounce::passes
