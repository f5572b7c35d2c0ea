// What becomes of the constants of a model when they are stored as 16-bit floats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/element_type.h"
#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"
#include "kernels/half.h"

namespace ounce::plan {

using kernels::kLargestHalf;
inline constexpr float kSmallestHalf = 0x1p-24F;
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

// What is known of ops that are to compute on 16-bit floats: which must not, and what becomes of values that
// leave the range of 16-bit floats on their way through them.

// What the row of an op says about FP16, and that Dropout draws random numbers while it trains.
const ops::HalfRule& half_rule(const onnx::Node& node);

// A scatter that adds or multiplies what it meets.
bool is_scattered_sum(const onnx::Node& node);

// The epsilon that a normalisation adds to what it divides by, next to nothing when it cannot be read; 0 for
// other ops.
float epsilon_of(const onnx::Node& node);

// What the schema of an op says about 16-bit floats.

// Does the op take or give sequences or maps?
bool has_sequence(const onnx::OpSchema& schema);

// Would the type of this value change with those of others at the node?
bool shares_type(const onnx::OpSchema& schema, const onnx::Node& node, onnx::Bytes name, ElementType half);

// The reason for an op that has no such type, with the opset that brought it, if one did.
std::string why_no_type(const onnx::OpSchema& schema, ElementType half);

}  // namespace ounce::plan
