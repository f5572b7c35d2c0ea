// Pixels of any layout as an upright picture of red, green and blue.
#pragma once

#include <ounce/app/inputs.h>

#include "data/tensor.h"

namespace ounce::app {

// uint8 [height, width, 3], or [height, width] of grey. Throws Failure{kUsage}.
data::Tensor upright(const Pixels& pixels);

}  // namespace ounce::app
