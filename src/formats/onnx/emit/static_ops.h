// Static arithmetic on integers, written as Q/DQ; see integer_ops.h.
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

// Static arithmetic on integers, written as the integer ops themselves; see integer_ops.h.
//
//   Conv               QLinearConv
//   Gemm               QGemm                   com.microsoft, as all that follow
//   MatMul             MatMulIntegerToFloat
//   Add, Mul, Concat   QLinearAdd, QLinearMul, QLinearConcat
//   pools, LeakyRelu … QLinearGlobalAveragePool …
//   Reshape, MaxPool … themselves, on codes
//
// Smaller than Q/DQ and independent of what a runtime fuses, but for runtimes that know these ops only.

void put_static_qoperator(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                          IntegerParameters& parameters);

// Puts back what was taken apart for integers (formats/onnx/prepare/integer_rewrites.h) and stayed in floats
// all the same, because a plan or a search left it there: one float op is faster than its parts.
//
//   x ─ Mul(α) ─ Add(β) ─ Clip(0, 1) ─ y                      →     x ─ HardSigmoid(α, β) ─ y
//   x ─ Clip(-3, ∞) ─┬─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─┬─ Mul ─ y     →     x ─ HardSwish ─ y
//                    └────────────────────────────────────┘
//   x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1) ─ y               →     x ─ Tanh ─ y
//
// Conditions: all numbers are single constants, and nobody else looks at what is between. The parts that
// compute on integers stand between Q/DQ, or are gone, and do not look like this.

// Counts the ops that are whole again.
Changes restore_float_ops(onnx::Model& model);

}  // namespace ounce::passes
