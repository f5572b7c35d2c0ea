// What is slower on integers than on floats, measured: the runtime's float kernels for convolutions of few
// inputs, and for depthwise ones, work on blocks of channels and leave its integer kernels behind.
//
//   microseconds, AVX-512 VNNI, 1 thread, ONNX Runtime 1.31      floats   integers
//   3 → 16 channels, 3×3, stride 2, 224×224, and 16 depthwise       305        893
//   3 → 16 channels, 3×3, 32×32, and 16 depthwise                    33         74
//   3 → 32 channels, 3×3, stride 2, 224×224, and 32 depthwise       637       1279
//
// In the middle of a network the way to floats and back costs more than that. At its beginning, where floats
// come in, it costs nothing: such nodes stay in floats until the first one comes that is faster on integers.
//
// For x86 CPUs; on arm64 floats have no such kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "onnx/model.h"

namespace ounce::plan {

// Is this node, with a weight of these dimensions, faster where it takes floats? `outputs` are the values
// that it gives for one sample.
bool is_faster_in_floats(const onnx::Node& node, std::span<const std::int64_t> weight_dims, double outputs);

// Do these costs hold there? (Recipe::target)
bool has_measured_costs(const std::string& target);

}  // namespace ounce::plan
