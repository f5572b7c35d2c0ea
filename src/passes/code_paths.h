// Where integer arithmetic comes from and where it leads to, before there is a plan: a rewrite for integers
// is worth something only between ops that give codes and ops that want them.
//
//   … ─ Conv ─ HardSwish ─ Mul(·, gate) ─ Conv ─ …          the HardSwish stands between
//   … ─ Conv ─ Tanh ─ output of the model                   the Tanh does not
#pragma once

#include <cstddef>

#include "graph/index.h"
#include "onnx/model.h"

namespace ounce::passes {

bool comes_from_codes(const graph::Index& index, std::size_t body, onnx::Bytes name);
bool leads_to_integers(const graph::Index& index, std::size_t body, onnx::Bytes name);

// Both, for a node with one output.
bool stands_between_integers(const graph::Index& index, std::size_t body, const onnx::Node& node);

}  // namespace ounce::passes
