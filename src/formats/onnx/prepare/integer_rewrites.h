// HardSigmoid and HardSwish as sums, limits and products, which have integer kernels.
//
//   x ─ HardSigmoid(α, β) ─ y     →     x ─ Mul(α) ─ Add(β) ─ Clip(0, 1) ─ y
//
//   x ─ HardSwish ─ y             →     x ─ Clip(-3, ∞) ─┬─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─┬─ Mul ─ y
//                                                        └────────────────────────────────────┘
//
// On codes the Mul by a number is only another scale, the Clips are the limits of the codes in front of them,
// and what is left is one QLinearAdd and one QLinearMul. The first Clip changes nothing, as HardSwish is 0
// below -3, but codes need not reach further down than that; it is left out where x is used elsewhere, too. A
// product x · HardSigmoid(x) is treated likewise.
//
// Condition: it stands between integer ops (stands_between_integers()).
#pragma once

#include <functional>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Counts the nodes that are gone.
Changes rewrite_hard_swish(onnx::Model& model);

// Tanh as a Sigmoid, which has an integer kernel.
//
//   x ─ Tanh ─ y     →     x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1) ─ y          tanh(x) = 2·σ(2·x) - 1
//
// On codes only the Sigmoid is left: the others are other scales, and another zero, of the same codes. So
// gated units (tanh · σ), as in WaveNets, stay on integers.
//
// Condition: it stands between integer ops (stands_between_integers()).

// Counts the nodes that are gone.
Changes tanh_to_sigmoid(onnx::Model& model);

// The mean over all positions of a picture as a pool, which has an integer kernel.
//
//   x ─ ReduceMean(axes 2, 3; keepdims 1) ─ y     →     x ─ GlobalAveragePool ─ y
//   x ─ ReduceMean(axes 2, 3; keepdims 0) ─ y     →     x ─ GlobalAveragePool ─ Flatten ─ y
//
// Likewise with one axis behind a one-dimensional Conv. Conditions: the axes are constants and all that are
// behind the channels (the rank is that of the Conv in front of it), and it stands between integer ops
// (stands_between_integers()).

// Counts the nodes that are gone.
Changes mean_to_pool(onnx::Model& model);

// Division by a number as a product, which on codes is no work at all: the same codes, read with another
// scale.
//
//   x ─ Div(n) ─ y     →     x ─ Mul(1/n) ─ y
//
// Condition: n is a single constant number, neither it nor 1/n too small or too large for a float, and it
// stands between integer ops (stands_between_integers()). In floats 1/n is rounded once: the last bit may
// differ.

// Counts the nodes that are gone.
Changes division_to_product(onnx::Model& model);

// Splits a Gemm with a constant right side into a product and a sum.
//
//   A ─ Gemm(B, C) ─ Y     →     A ─ MatMul(B) ─ Add(C) ─ Y         with transB: MatMul(Bᵀ), a new tensor
//
// Conditions: alpha and beta are 1 (beta does not matter without C), transA is 0, B is a constant matrix.
// C may be anything that Gemm takes, [N], [1,N], [M,1], [M,N] or a single value: Add spreads it in the same
// way. B itself stays as it is; a transposed copy is made once for all the Gemms that use it.

// Those that `is_wanted` picks, at every depth, functions included. Counts the Gemms that are gone.
Changes gemm_to_matmul(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted);

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

// Counts the sets of values that got more channels.
Changes pad_channels(onnx::Model& model);

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
// zeros, and so do dilations); the ConvTranspose leads to integer ops (stands_between_integers()).

// Those that `is_wanted` picks. Counts the nodes that are gone.
Changes conv_transpose_to_conv(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted);

}  // namespace ounce::passes
