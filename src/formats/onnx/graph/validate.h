// Is this a model whose parts fit together? The reader has proved each message; here the whole.
#pragma once

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

// Proves the naming rules (see Index) and that no body has a cycle. Returns the index, since whoever
// verifies wants to look next. Throws Error{kBadInput} that names the node.
Index validate(const onnx::Model& model);

}  // namespace ounce::graph
