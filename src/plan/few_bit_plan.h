// Weights that a runtime's kernels for few bits multiply with as they are stored: `format` int8, int4, int2.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>

#include "graph/index.h"
#include "plan/decision.h"

namespace ounce::plan {

// Decides encoding, blocks and decoder for the dialect nbits; for qdq the encoding alone, since that is
// ordinary storage with blocks. Otherwise false, the reason saying why no kernel takes the weight.
bool plan_few_bits(const graph::Index& index, const Recipe& recipe, std::int64_t opset, Format format,
                   Decision& decision);

}  // namespace ounce::plan
