// Checks the consistency of a whole model. The reader has already checked each message.
#pragma once

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

// Checks the naming rules (see Index) and that no body has a cycle. Returns the index for further use. Throws
// Error{kBadInput} that names the node.
Index validate(const onnx::Model& model);

}  // namespace ounce::graph
