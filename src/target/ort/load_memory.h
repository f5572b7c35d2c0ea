// How much memory the weights of a model take once a runtime has loaded it: codes that ordinary ops decode
// are float32 then, unless DequantizeLinear decodes them at every run.
#pragma once

#include <cstdint>

#include "formats/onnx/graph/index.h"

namespace ounce::target {

std::uint64_t weights_after_loading(const graph::Index& index);

}  // namespace ounce::target
