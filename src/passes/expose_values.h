// Makes values of the main graph outputs of the model, so that a runtime tells what they are.
//
//   x ─ Conv ─ h ─ Relu ─ y          x ─ Conv ─ h ─ Relu ─ y
//   outputs: y               →       outputs: y, h
//
// No type is said for the new outputs: the runtime knows it.
#pragma once

#include <string>
#include <vector>

#include "graph/index.h"
#include "onnx/model.h"

namespace ounce::passes {

// Values that may want a range of their own: what goes into and comes out of the ops that have integer
// kernels or stand between them, unless it is constant. Sorted.
std::vector<std::string> values_to_observe(const onnx::Model& model, const graph::Index& index);

// Those that are inputs or outputs already are left as they are.
void expose_values(onnx::Model& model, const std::vector<std::string>& names);

}  // namespace ounce::passes
