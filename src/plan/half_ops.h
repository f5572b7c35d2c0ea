// What is known of ops that are to compute on 16-bit floats: which must not, and what becomes of values that
// leave the range of 16-bit floats on their way through them.
#pragma once

#include <cstddef>
#include <string_view>

#include "onnx/model.h"

namespace ounce::plan {

// From what goes in to what comes out.
enum class Reach {
  kCarries,  // large in, large out
  kBounds,   // the result is small whatever goes in
  kLowers,   // squares and powers are brought back: roots and logarithms
  kGrows,    // powers and sums: the result may be large though nothing was
};

struct HalfOp {
  std::string_view op_type;
  Reach reach = Reach::kCarries;
  std::string_view why_float = {};  // why the op stays in FP32, whatever its values are
};

// Ops of ONNX's own domain, and of ONNX Runtime's, that are not listed carry and may compute on 16 bits.
const HalfOp& half_op(const onnx::Node& node);

// Inputs that say where or how much, not what: their steps would become visible.
bool is_setting(const onnx::Node& node, std::size_t input);

// A scatter that adds or multiplies what it meets.
bool is_scattered_sum(const onnx::Node& node);

// The epsilon that a normalisation adds to what it divides by, next to nothing when it cannot be read; 0 for
// other ops.
float epsilon_of(const onnx::Node& node);

}  // namespace ounce::plan
