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

}  // namespace ounce::passes
