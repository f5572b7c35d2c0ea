// Is a constant a mask: so negative that Softmax gives nothing to what it is added to, or yes and no?
#pragma once

#include <optional>
#include <string>

#include "decide/family_signs.h"
#include "onnx/model.h"

namespace ounce::decide {

inline constexpr float kMaskFloor = -1000;  // e^-1000 is nothing

// Nothing for tensors of ordinary numbers. A mask of yes and no has the value 0, and is one only as a
// triangle.
std::optional<MaskConstant> read_mask(const onnx::Model& model, const std::string& name,
                                      const onnx::Tensor& tensor);

}  // namespace ounce::decide
