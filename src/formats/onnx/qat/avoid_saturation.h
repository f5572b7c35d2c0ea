// Makes a model that came with quantized weights right on x86 CPUs without VNNI: where two neighboring
// weights of a channel are so large that sums of their products saturate there (target/ort/saturation.h), the
// channel's scale is increased until they do not, and its weights and its bias are quantized again with the
// new scale. This changes what training found, so it is done only for a target that saturates.
//
//   codes(127 127 …) ─ DequantizeLinear(s) ─ Conv     →     codes(64 64 …) ─ DequantizeLinear(2 s) ─ Conv
//
// Channels without such pairs keep what training found. Conditions: codes, scales and the int32 bias are
// constants, one scale for all or for each channel, zero points are 0, and nobody else takes the weight.
#pragma once

#include <ounce/outcome.h>

#include <string>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// The weights whose scales were increased, and the nodes that may still saturate, with the reason.
struct SaturationChanges {
  std::vector<ScaleChange> weights;     // that were changed
  std::vector<std::string> left_alone;  // "node 'conv' may saturate …, but its bias has other scales"
};
SaturationChanges avoid_saturation(onnx::Model& model);

}  // namespace ounce::passes
