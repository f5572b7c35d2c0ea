// Checks how the constants of a model survive the conversion to 16-bit floats.
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
// Below this, float16 values are subnormal and lose precision.
inline constexpr float kSmallestNormalHalf = 0x1p-14F;

enum class HalfFit {
  kFits,
  kOverflows,  // values beyond 65504 would become infinite
  kVanishes,   // divisors, or values added to divisors, would become zero or imprecise
};

struct HalfTensor {
  HalfFit fit = HalfFit::kFits;
  float worst = 0;         // the value that does not fit
  bool is_broken = false;  // a weight with NaN or infinite values
};

// Reads a float32 tensor once, records its digest in the decision if it is large, and checks whether 16-bit
// floats preserve its meaning.
HalfTensor read_half_tensor(const onnx::Model& model, const graph::Index& index, ElementType half,
                            Decision& decision, const ForEach& for_each);

// Rules for ops in FP16 or BF16: which ops must not, and what happens to values that exceed
// the 16-bit range.

// The FP16 rule in the op's row. Dropout in training mode counts as an op that draws random numbers.
const ops::HalfRule& half_rule(const onnx::Node& node);

// A scatter op that adds or multiplies instead of replacing values.
bool is_scattered_sum(const onnx::Node& node);

// The epsilon that a normalization adds to its divisor, a tiny value if it cannot be read; 0 for other ops.
float epsilon_of(const onnx::Node& node);

// Schema queries about 16-bit floats.

// True if the op takes or returns sequences or maps.
bool has_sequence(const onnx::OpSchema& schema);

// True if this value must have the same type as other values of the node.
bool shares_type(const onnx::OpSchema& schema, const onnx::Node& node, onnx::Bytes name, ElementType half);

// The reason if the op does not support the type, with the opset that added support, if any.
std::string why_no_type(const onnx::OpSchema& schema, ElementType half);

}  // namespace ounce::plan
