// Which family of models a graph belongs to, found in its nodes and weights alone: nothing is run, and no
// name decides. Branches of If, bodies of Loop and functions are looked into like the main graph.
//
//   MatMul ─ Div ─ Add(mask) ─ Softmax ─ MatMul      attention: a transformer
//   ConvTranspose[·,·,k] … Conv[1,·,k] ─ Tanh        a wave of one channel: an audio generator
//   boxes [·,n,4] beside scores [·,n,c]              a detector
#pragma once

#include <ounce/advise.h>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

FamilyFinding find_family(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::search
