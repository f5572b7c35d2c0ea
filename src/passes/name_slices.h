// Names for Gather and Slice nodes that have none.
//
// ONNX Runtime 1.18 to 1.21 fuses several of them into a Split, calls it after the first one's name, and
// refuses the model when two such names are the same, which those of unnamed nodes are.
#pragma once

#include <cstddef>

#include "onnx/model.h"

namespace ounce::passes {

// At every depth, functions included. Returns how many nodes got a name.
std::size_t name_slices(onnx::Model& model);

}  // namespace ounce::passes
