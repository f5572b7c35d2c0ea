// Applies a plan for 16-bit floats: constants change their type, and nodes that are kept in FP32 get Casts at
// their inputs and outputs.
//
//   x ─ Conv ─ Exp ─ MatMul ─ y       x ─ Cast ─ Conv ─ Cast ─ Exp ─ Cast ─ MatMul ─ Cast ─ y
//      w ┘          v ┘          →               w ┘                      v ┘
//   float32                                      float16    float32       float16      float32
//
// A value has at most one Cast, after the node that produces it, for all users that need the other type, also
// in subgraphs. The inputs and outputs of the model keep their names.
#pragma once

#include <vector>

#include "base/element_type.h"
#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

// `source` and the editors' index belong to an unmodified second reading of the model, as in store_weights().
std::vector<Stored> make_half_graph(Editors& editors, const onnx::Model& source, const graph::Index& index,
                                    const plan::Plan& plan);

// Emulates 16-bit hardware on a CPU. ONNX Runtime's CPU provider has hardly any bfloat16 kernels and rejects
// such models; it runs float16 in float32 and skips the rounding between nodes where it can. In the emulated
// model every node runs in float32 and its result is rounded.
//
//   x ─ MatMul ─ h ─ Softmax ─ y          x ─ Cast ─ MatMul ─ Cast ─ h ─ Cast ─ Softmax ─ Cast ─ y
//      w ┘                          →        w ─ Cast ┘
//   float16                                     float32     float16     float32          float16
//
// Values keep their names and types, also at the borders of bodies and functions. Each value has one Cast to
// float32, after its definition, for all its users. Cast, Constant, nodes with a body and calls of the
// model's functions do not change: they only move values, or the runtime supports them.
//
// The results equal those of hardware that accumulates in float32 and rounds once per node. The runtime does
// not remove the two rounding Casts as redundant: in 1.17.3, 1.22.0, 1.26.0 and 1.30.0 they survive every
// optimization level, also after a Cast from another 16-bit type. Only
// optimization.enable_cast_chain_elimination (1.26.0 and 1.30.0, off by default) removes them. Sessions must
// not enable it.
//
// Types come from ElementTypes. bfloat16 and its Cast need opset 13; a function that uses it must import
// ONNX's own ops.

// Processes all bodies, functions included. `half` is float16 or bfloat16. Models without values of this type
// do not change.
void emulate_halves(onnx::Model& model, ElementType half);

}  // namespace ounce::passes
