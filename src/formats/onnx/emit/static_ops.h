// Writes statically quantized nodes in QDQ format; see integer_ops.h.
#pragma once

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

void put_static_qdq(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    IntegerParameters& parameters);

// Writes statically quantized nodes in QOperator format; see integer_ops.h.
//
//   Conv               QLinearConv
//   Gemm               QGemm                   com.microsoft, like all below
//   MatMul             MatMulIntegerToFloat
//   Add, Mul, Concat   QLinearAdd, QLinearMul, QLinearConcat
//   pools, LeakyRelu … QLinearGlobalAveragePool …
//   Reshape, MaxPool … unchanged, on quantized values
//
// Smaller than QDQ and independent of fusion, but only ONNX Runtime has these ops.

void put_static_qoperator(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                          IntegerParameters& parameters);

// Restores ops that integer_rewrites.h (formats/onnx/prepare) decomposed for INT8 but that the plan or a
// search kept in FP32: one FP32 op is faster than its parts.
//
//   x ─ Mul(α) ─ Add(β) ─ Clip(0, 1) ─ y                      →     x ─ HardSigmoid(α, β) ─ y
//   x ─ Clip(-3, ∞) ─┬─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─┬─ Mul ─ y     →     x ─ HardSwish ─ y
//                    └────────────────────────────────────┘
//   x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1) ─ y               →     x ─ Tanh ─ y
//
// Conditions: all operands are scalar constants, and the values in between have no other users. Parts that
// run in INT8 do not match, because they are between Q/DQ nodes or replaced.

// Counts the restored ops.
Changes restore_float_ops(onnx::Model& model);

}  // namespace ounce::passes
