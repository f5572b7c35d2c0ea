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
// Condition: it stands between integer ops (code_paths.h).
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
// Condition: it stands between integer ops (code_paths.h).

// Counts the nodes that are gone.
Changes tanh_to_sigmoid(onnx::Model& model);

// The mean over all positions of a picture as a pool, which has an integer kernel.
//
//   x ─ ReduceMean(axes 2, 3; keepdims 1) ─ y     →     x ─ GlobalAveragePool ─ y
//   x ─ ReduceMean(axes 2, 3; keepdims 0) ─ y     →     x ─ GlobalAveragePool ─ Flatten ─ y
//
// Likewise with one axis behind a one-dimensional Conv. Conditions: the axes are constants and all that are
// behind the channels (the rank is that of the Conv in front of it), and it stands between integer ops
// (code_paths.h).

// Counts the nodes that are gone.
Changes mean_to_pool(onnx::Model& model);

// Division by a number as a product, which on codes is no work at all: the same codes, read with another
// scale.
//
//   x ─ Div(n) ─ y     →     x ─ Mul(1/n) ─ y
//
// Condition: n is a single constant number, neither it nor 1/n too small or too large for a float, and it
// stands between integer ops (code_paths.h). In floats 1/n is rounded once: the last bit may differ.

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

}  // namespace ounce::passes
