// Carries out a plan of 16-bit floats: constants change their type where they stand, nodes that stay in FP32
// get a Cast in front and behind.
//
//   x ─ Conv ─ Exp ─ MatMul ─ y       x ─ Cast ─ Conv ─ Cast ─ Exp ─ Cast ─ MatMul ─ Cast ─ y
//      w ┘          v ┘          →               w ┘                      v ┘
//   float32                                      float16    float32       float16      float32
//
// A value has one Cast at most, behind the node that gives it, for all that want the other type, also in
// bodies inside; inputs and outputs of the model keep their names.
#pragma once

#include <vector>

#include "base/element_type.h"
#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

// `source` and the editors' index are those of an untouched second reading of the model, as in
// store_weights().
std::vector<Stored> make_half_graph(Editors& editors, const onnx::Model& source, const graph::Index& index,
                                    const plan::Plan& plan);

// Lets a CPU show what a model gives where 16-bit floats are computed on. ONNX Runtime's CPU provider has
// hardly any kernels for bfloat16 and refuses such a model; float16 it computes in float32, and leaves out
// the rounding between nodes where it can. Here every node computes in float32 and its result is rounded.
//
//   x ─ MatMul ─ h ─ Softmax ─ y          x ─ Cast ─ MatMul ─ Cast ─ h ─ Cast ─ Softmax ─ Cast ─ y
//      w ┘                          →        w ─ Cast ┘
//   float16                                     float32     float16     float32          float16
//
// Values keep their names and types, also those that enter and leave bodies and functions; a value has one
// Cast to float32, where it is defined, for all that take it. Cast, Constant, nodes with a body and calls of
// the model's functions stay as they are: they only move values, or the runtime has them.
//
// The numbers are those of hardware that accumulates in float32 and rounds once a node. The runtime does not
// take the two Casts that round for superfluous: in 1.17.3, 1.22.0, 1.26.0 and 1.30.0 they survive every
// level of optimisation, also behind a Cast from another 16-bit type. Only
// optimization.enable_cast_chain_elimination (in 1.26.0 and 1.30.0, off by default) takes them out: a session
// that is to give these numbers must not switch it on.
//
// Types are those that ElementTypes knows. bfloat16 needs opset 13, and so does the Cast; a function that
// computes on it has to import ONNX's own ops.

// At every depth, functions included; `half` is float16 or bfloat16. A model without it stays untouched.
void emulate_halves(onnx::Model& model, ElementType half);

}  // namespace ounce::passes
