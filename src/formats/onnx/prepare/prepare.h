// The float model as integer kernels want it: everything that computes the same in fewer, larger steps.
//
// Weights that are moved before they are used become constants; batch normalisations go into the op in front
// of them, sums of constants into its bias; every op gets a bias of its own; identities and dead nodes go;
// older opsets are raised to one that has per-channel Q/DQ; for static arithmetic ops without an integer
// kernel are made of ops that have one (Rewrite); for dynamic arithmetic Gemm becomes MatMul and Add, unless
// it is asked to stay in floats.
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Returns the nodes that could not be folded or rewritten for INT8 kernels, with the reason: "node 'up': its
// groups are too small". Throws Error{kUnsupported} that names the node which cannot be brought to a newer
// opset.
std::vector<std::string> prepare(onnx::Model& model, const Recipe& recipe);

}  // namespace ounce::passes
