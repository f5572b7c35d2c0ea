// Static arithmetic on integers, written as Q/DQ; see integer_ops.h.
#pragma once

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/integer_ops.h"
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

}  // namespace ounce::passes
