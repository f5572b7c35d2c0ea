// Writes constants the one way that other passes know: as tensors.
//
//   Constant(value_float=1e-8)     becomes     Constant(value=float32 1e-8)
//   ConstantOfShape()              becomes     ConstantOfShape(value=float32[1] 0)
#pragma once

#include <cstddef>

#include "onnx/model.h"

namespace ounce::passes {

// Those of float32, at every depth, functions included. Returns how many nodes it changed.
std::size_t spell_constants(onnx::Model& model);

}  // namespace ounce::passes
