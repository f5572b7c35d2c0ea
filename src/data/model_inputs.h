// The inputs that a model's file declares, as the runtime describes them once the model is loaded. Data can
// be checked against them before anything is loaded.
#pragma once

#include <vector>

#include "data/tensor.h"
#include "onnx/model.h"

namespace ounce::data {

// Without those that have an initializer: nobody has to feed them.
std::vector<ValueDescription> inputs_of(const onnx::Model& model);

}  // namespace ounce::data
