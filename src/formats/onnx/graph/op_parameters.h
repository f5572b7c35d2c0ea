// Whoever reads a node of a known op finds the inputs and outputs that the op cannot be without.
#pragma once

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

// Throws Error{kBadInput}. Only the ops of ONNX itself are looked at: those of runtimes change under the same
// version.
void check_op_parameters(const onnx::Model& model, const Index& index);

}  // namespace ounce::graph
