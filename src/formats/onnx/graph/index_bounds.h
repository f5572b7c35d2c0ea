// Which values of a model's inputs are legal: inputs that select rows of a table must stay inside of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "formats/onnx/graph/index.h"

namespace ounce::graph {

// For each input of the main graph that reaches the indices of a Gather (perhaps through casts and reshapes):
// the number of rows of the smallest table that it selects from.
std::map<std::string, std::int64_t> index_bounds(const onnx::Model& model, const Index& index);

}  // namespace ounce::graph
