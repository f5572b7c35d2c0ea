// Rewrites HardSigmoid and HardSwish as sums, clips and products, which have integer kernels.
//
//   x ─ HardSigmoid(α, β) ─ y     →     x ─ Mul(α) ─ Add(β) ─ Clip(0, 1) ─ y
//
//   x ─ HardSwish ─ y             →     x ─ Clip(-3, ∞) ─┬─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─┬─ Mul ─ y
//                                                        └────────────────────────────────────┘
//
// In INT8 the Mul by a scalar only changes a scale, the Clips become limits of the quantization range, and
// one QLinearAdd and one QLinearMul remain. The first Clip does not change the result, because HardSwish is 0
// below -3, but it limits the range to quantize; it is omitted if x has other users. A product x ·
// HardSigmoid(x) is rewritten in the same way.
//
// Condition: the node is between integer ops (stands_between_integers()).
#pragma once

#include <functional>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Counts the replaced nodes.
Changes rewrite_hard_swish(onnx::Model& model);

// Rewrites Tanh as a Sigmoid, which has an integer kernel.
//
//   x ─ Tanh ─ y     →     x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1) ─ y          tanh(x) = 2·σ(2·x) - 1
//
// In INT8 only the Sigmoid remains; the other ops only change scales and zero points. Gated units (tanh · σ),
// as in WaveNets, therefore run entirely in INT8.
//
// Condition: the node is between integer ops (stands_between_integers()).

// Counts the replaced nodes.
Changes tanh_to_sigmoid(onnx::Model& model);

// Rewrites the mean over all spatial positions as a pool, which has an integer kernel.
//
//   x ─ ReduceMean(axes 2, 3; keepdims 1) ─ y     →     x ─ GlobalAveragePool ─ y
//   x ─ ReduceMean(axes 2, 3; keepdims 0) ─ y     →     x ─ GlobalAveragePool ─ Flatten ─ y
//
// The same applies to one axis after a one-dimensional Conv. Conditions: the axes are constant and are all
// spatial axes (the preceding Conv determines the rank), and the node is between integer ops
// (stands_between_integers()).

// Counts the replaced nodes.
Changes mean_to_pool(onnx::Model& model);

// Rewrites division by a scalar as a product, which is free in INT8: it only changes the scale.
//
//   x ─ Div(n) ─ y     →     x ─ Mul(1/n) ─ y
//
// Conditions: n is a scalar constant, n and 1/n are in the range of float32, and the node is between integer
// ops (stands_between_integers()). In FP32 1/n is rounded once, so the last bit may differ.

// Counts the replaced nodes.
Changes division_to_product(onnx::Model& model);

// Splits a Gemm with a constant right side into a product and a sum.
//
//   A ─ Gemm(B, C) ─ Y     →     A ─ MatMul(B) ─ Add(C) ─ Y         with transB: MatMul(Bᵀ), a new tensor
//
// Conditions: alpha and beta are 1 (beta does not matter without C), transA is 0, B is a constant matrix. C
// may be anything that Gemm accepts, [N], [1,N], [M,1], [M,N] or a scalar: Add broadcasts it in the same way.
// B itself does not change; Gemms that share a transposed B share one transposed copy.

// Processes the nodes for which `is_wanted` returns true, in all bodies, functions included. Counts the
// replaced Gemms.
Changes gemm_to_matmul(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted);

// Pads the channels of depthwise convolutions to a multiple of 16: integer kernels process 16 at a time, and
// the remaining ones one by one.
//
//   x ─ Conv → 72 ─ Relu ─ Conv depthwise 72 ─ Relu ─ Conv 72 → 24 ─ y
//     →   x ─ Conv → 80 ─ Relu ─ Conv depthwise 80 ─ Relu ─ Conv 80 → 24 ─ y
//
//   28×28, 3×3, ONNX Runtime 1.31, AVX-512 VNNI:
//     72 channels 140 µs, 80: 68;     120: 212, 128: 101;     200: 326, 208: 127
//
// The weights and biases of the new channels are zero, and all users multiply them by zero. The outputs are
// the same except for the order of sums in kernels. FP32 kernels work on blocks of 8 or 16 channels anyway
// and do not become slower.
//
// Conditions: all values with these channels come from, and go to, convolutions with constant FP32 weights
// (one group, or depthwise), through ops that do not mix channels (clips, activations, pools, sums and
// products with each other or with scalars); none is an input or output of the model or is used in another
// body; there are 24 channels or more.

// Counts the padded groups of values.
Changes pad_channels(onnx::Model& model);

// Rewrites a transposed convolution as a convolution, which has an integer kernel.
//
// Along one axis with stride s, output o receives input i through tap k if o = s·i - pad + k. The taps with
// remainder r modulo s produce the outputs with remainder r of o + pad. These are s convolutions without
// stride, of ⌈K/s⌉ taps each, which one Conv computes with s times the channels.
//
//   x ─ ConvTranspose(w[C, M, K], s) ─ y
//     →   x ─ Conv(w'[s·M, C, ⌈K/s⌉]) ─ Transpose ─ Reshape ─ Slice ─ Transpose ─ y
//           channels: (r, m)            last        m                 first
//
//   w'[r·M + m, c, ⌈K/s⌉ - 1 - q] = w[c, m, s·q + r], and 0 if there is no such tap
//
// Integer kernels use channels-last, where the Transposes and the Reshape are free. In two dimensions columns
// are interleaved first, then rows, with a Transpose in between that moves data. The Slice removes the
// padding; it is omitted if there is none. A following Relu or Clip is moved directly after the Conv, which
// can absorb it. The Conv keeps the node's name.
//
// Conditions: one or two dimensions; a constant FP32 weight and bias; explicit pads; at least four inputs in
// a group; at most twice the multiplications (taps that do not divide by the stride leave zeros, and so do
// dilations); the ConvTranspose is followed by integer ops (leads_to_integers()).

// Processes the nodes for which `is_wanted` returns true. Counts the replaced nodes.
Changes conv_transpose_to_conv(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted);

}  // namespace ounce::passes
