// Declares inputs and outputs of a model as the integers or 16-bit floats they have become, and records in
// its metadata what they stand for (formats/onnx/view/onnx_file.h reads it):
//
//   ounce.io = {"inputs": {"x": {"type": "uint8", "scale": [0.0078125], "zero_point": [127], "raw": true}},
//               "outputs": {"y": {"type": "uint8", "scale": [0.047], "zero_point": [128], "raw": false}}}
//
// A code c stands for (c - zero_point) * scale, channel by channel of the second axis where there are
// several; a 16-bit float stands for itself. Raw inputs are the bytes that the contract's rescaling, means
// and deviations would be applied to.
#pragma once

#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/integer_plan.h"

namespace ounce::passes {

// `ports` belong to an index whose model outlives this call.
void declare_ports(onnx::Model& model, const std::vector<plan::IntegerPort>& ports);

}  // namespace ounce::passes
