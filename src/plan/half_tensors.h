// What becomes of the constants of a model when they are stored as 16-bit floats.
#pragma once

#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "graph/index.h"
#include "base/element_type.h"
#include "onnx/model.h"
#include "plan/decision.h"
#include "plan/weights.h"

namespace ounce::plan {

inline constexpr float kLargestHalf = 65504, kSmallestHalf = 0x1p-24F;
inline constexpr float kLargestBfloat = 0x1.FEp127F;  // a little less than the largest float32
// Below this, 16-bit floats have a fixed step and lose precision.
inline constexpr float kSmallestNormalHalf = 0x1p-14F;

enum class HalfFit {
  kFits,
  kOverflows,  // values beyond 65504 would become infinite
  kVanishes,   // values that are divided by, or added so that they can be, would be zero or imprecise
};

struct HalfTensor {
  HalfFit fit = HalfFit::kFits;
  float worst = 0;         // the value that does not fit
  bool is_broken = false;  // a weight with NaN or infinite values
};

// Reads a float32 tensor once, notes its digest in the decision if it is large, and says whether it keeps its
// meaning.
HalfTensor read_half_tensor(const onnx::Model& model, const graph::Index& index, ElementType half,
                            Decision& decision, const ForEach& for_each);

}  // namespace ounce::plan
