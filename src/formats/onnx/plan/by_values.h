// What only a tensor's values can tell: that there is nothing in them, that they are broken, that they do not
// fit.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/decision.h"

namespace ounce::plan {

// Tensors of at least so many bytes are digested as they are read, one digest a tile (quant/tiles.h).
inline constexpr std::uint64_t kDigestFrom = std::uint64_t{1} << 20;

// Reads the tensor, notes the ranges of its groups, and changes the decision if it has to. Throws
// Error{kBadInput} for a weight with NaN or infinite values.
void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each);

// Spends a share of the size on 16-bit floats for the smallest weights.
void promote_smallest(std::vector<Decision>& decisions, double share);

}  // namespace ounce::plan
