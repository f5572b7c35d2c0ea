// Brings a model to a newer opset, so that ops may be used which its own does not have.
//
//   opset 9:    x ─ Clip(min=0, max=6) ─ y         opset 17:    x ─ Clip ─ y
//                                                               0, 6 ┘
//
// Nodes that mean the same in both stay byte for byte; opset_changes.h lists what does not. Subgraphs and
// functions, which have imports of their own, are brought along. The IR version stays: it says how the file
// is read, not what its ops mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// `wanted` is 13 to 21; a model that is there already, or beyond, is left alone. Returns how many nodes it
// changed. Throws Error{kUnsupported} that names the node which cannot be converted and says what to do; the
// model is as it was then.
std::size_t raise_opset(onnx::Model& model, std::int64_t wanted);

}  // namespace ounce::passes
