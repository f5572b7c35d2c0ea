// The version that an operator needs for the types of its tensors. A runtime refuses an operator of a version
// that it does not have, so a version that is too low lets an old runtime compute something else.
//
//   code.version = std::max(code.version, tflite::least_version(model, graph, op));
//
// The version in the file already covers the options (dilation, `keep_num_dims`).
#pragma once

#include <cstdint>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// 1 where nothing more is known.
std::int32_t least_version(const Model& model, const SubGraph& graph, const Operator& op);

}  // namespace ounce::tflite
