// Prepares an FP32 model for integer kernels with rewrites that preserve its results.
//
// Folds ops on weights into constants, batch normalizations into the preceding ops, and constant sums into
// biases; gives every op its own bias; removes identities and dead nodes; raises older opsets to one with
// per-channel Q/DQ. For static quantization, rewrites ops without integer kernels as ops that have one
// (Rewrite). For dynamic quantization, splits Gemm into MatMul and Add, unless it is overridden to FP32.
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Returns the nodes that could not be folded or rewritten, with the reason: "node 'up': its groups are too
// small". Throws Error{kUnsupported} that names the node that cannot be converted to a newer opset.
std::vector<std::string> prepare(onnx::Model& model, const Recipe& recipe);

}  // namespace ounce::passes
