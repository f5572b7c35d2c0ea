// Takes the names off Constant nodes.
//
//   Constant "…/rnn/Constant_12" → value     becomes     Constant → value
//
// The value keeps its name, which is what other nodes refer to; the node's own name means nothing, as
// runtimes turn Constant nodes into initializers when they load. Exporters give them long names, in some
// models 1 % of the file.
#pragma once

#include <cstddef>

#include "onnx/model.h"

namespace ounce::passes {

// At every depth, functions included. Returns how many nodes it changed.
std::size_t strip_constant_names(onnx::Model& model);

}  // namespace ounce::passes
