// Values for every input of a model, the same each time: to see that two forms of it give the same bits.
#pragma once

#include <vector>

#include "data/tensor.h"

namespace ounce::app {

// Free dimensions are 1. Nothing where an input cannot be made up: strings, and what is no tensor.
std::vector<data::Tensor> probe_inputs(const std::vector<data::ValueDescription>& inputs);

}  // namespace ounce::app
