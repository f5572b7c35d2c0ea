// Makes a model that came with codes right on every CPU: where two neighbouring weights of a channel are so
// large that sums of their products saturate on x86 without VNNI (target/saturation.h), the channel's scale
// grows until they are not, and its codes and its bias are written in the new units.
//
//   codes(127 127 …) ─ DequantizeLinear(s) ─ Conv     →     codes(64 64 …) ─ DequantizeLinear(2 s) ─ Conv
//
// Channels without such pairs keep what training found. Conditions: codes, scales and the int32 bias are
// constants, one scale for all or for each channel, zero points are 0, and nobody else takes the weight.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// Counts the weights that were changed.
Changes limit_pairs(onnx::Model& model);

}  // namespace ounce::passes
