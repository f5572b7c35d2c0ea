// Float nodes that belong to integer arithmetic: those between DequantizeLinear and QuantizeLinear, which
// runtimes make integer ops, and those that make the scales of codes.
#pragma once

#include <cstddef>

#include "graph/index.h"
#include "onnx/model.h"

namespace ounce::plan {

bool is_between_codes(const graph::Index& index, std::size_t body, const onnx::Node& node);

// Does all that a node gives end as a scale of codes?
bool makes_scale(const graph::Index& index, std::size_t body, const onnx::Node& node);

}  // namespace ounce::plan
