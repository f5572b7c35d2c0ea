// Gives dynamic axes of a model fixed lengths, as NPU providers such as NNAPI and QNN need.
//
//   input x float32[N,3,H,W]                 N=1, x:2=224, W=224 →   input x float32[1,3,224,224]
//
// An axis is named by its parameter ("N") or by its place ("x:2"). A parameter gets its length everywhere in
// the model, also if it is named by a place. Declared shapes of outputs and intermediate values that still
// have dynamic axes become fixed where shape inference knows them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Throws Error{kUsage} for a name that is no dynamic axis of an input, two lengths for one axis, and lengths
// below 1.
void fix_shapes(onnx::Model& model, const std::map<std::string, std::int64_t>& lengths);

}  // namespace ounce::passes
