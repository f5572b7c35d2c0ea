// Is a constant a mask: so negative that Softmax gives nothing to what it is added to, or yes and no?
#pragma once

#include <optional>
#include <string>

#include "onnx/model.h"
#include "search/family_signs.h"

namespace ounce::search {

inline constexpr float kMaskFloor = -1000;  // e^-1000 is nothing

// Nothing for tensors of ordinary numbers. A mask of yes and no has the value 0, and is one only as a
// triangle.
std::optional<MaskConstant> read_mask(const onnx::Model& model, const std::string& name,
                                      const onnx::Tensor& tensor);

}  // namespace ounce::search
