// Carries out the part of a plan that says which nodes compute on integers.
//
// static, Q/DQ:
//
//   x ─ Conv ─ Relu ─ y      →      x ─ Q ─ DQ ─ Conv ─ Q ─ DQ ─ y
//
//   One QuantizeLinear makes the codes of a value, every integer op that takes them has a DequantizeLinear of
//   its own, and another serves all that compute on floats: so runtimes recognise each op and fuse it.
//
// static, QOperator:
//
//   x ─ Conv ─ Relu ─ y      →      x ─ Q ─ QLinearConv ─ DQ ─ y
//
// dynamic:
//
//   x ─ MatMul ─ y           →      x ─ DynamicQuantizeLinear ─ MatMulInteger ─ Cast ─ Mul ─ y
//                                                    scale ─ Mul(weight's scales) ──────┘
//
// A static plan may have dynamic nodes: what they read are floats, from a DequantizeLinear if need be.
//
// Values that floats are read from keep their names, so that the rest of the model stays as it is.
#pragma once

#include <vector>

#include "graph/index.h"
#include "passes/editors.h"
#include "passes/store_weights.h"
#include "plan/plan.h"

namespace ounce::passes {

// `index` is the editors'; `stored` what store_weights() gave.
void put_integer_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored);

}  // namespace ounce::passes
