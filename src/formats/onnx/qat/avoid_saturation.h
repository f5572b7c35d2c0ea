// Repairs quantized models for x86 CPUs without VNNI. Where two neighboring weights of a channel are so large
// that the sum of their products saturates int16 (target/ort/saturation.h), the channel's scale is increased
// until it cannot, and its weights and bias are quantized again with the new scale. This changes the trained
// weights, so it is done only for targets that saturate.
//
//   codes(127 127 …) ─ DequantizeLinear(s) ─ Conv     →     codes(64 64 …) ─ DequantizeLinear(2 s) ─ Conv
//
// Channels without such pairs keep their trained values. Conditions: weights, scales and the int32 bias are
// constants, with one scale in total or for each channel; zero points are 0; no other node uses the weight.
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// The weights whose scales were increased, and the nodes that may still saturate, with the reason.
struct SaturationChanges {
  std::vector<ScaleChange> weights;
  std::vector<std::string> left_alone;  // "node 'conv' may saturate …, but its bias has other scales"
};
SaturationChanges avoid_saturation(onnx::Model& model);

}  // namespace ounce::passes
